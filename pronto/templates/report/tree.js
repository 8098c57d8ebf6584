// The tree of languages

function grow(bibles) {
  // Groups within groups; a group with a single group in it is left out
  const root = { groups: new Map(), bibles: [], name: '' }
  for (const b of bibles) {
    let at = root
    for (const name of b.groups) {
      if (!at.groups.has(name)) at.groups.set(name, { groups: new Map(), bibles: [], name })
      at = at.groups.get(name)
    }
    at.bibles.push(b)
  }
  const joined = (at, top) => {
    const groups = [...at.groups.values()].map(g => joined(g))
    return !top && groups.length === 1 && !at.bibles.length
      ? { ...groups[0], above: `${at.name} › ${groups[0].above ?? groups[0].name}` }
      : { ...at, groups }
  }
  return joined(root, true)
}
const members = node => [...node.bibles, ...node.groups.flatMap(members)]
function tree(found) {
  const of = grouped(
    found.filter(r => over(r) != null),
    r => r.bible,
  )
  if (!of.size) return []
  const figures = bibles => {
    const x = mean(bibles.map(b => mean(of.get(b).map(over))))
    const value = element(
      'span',
      { class: 'value' },
      figure(mean(bibles.map(b => mean(of.get(b).map(score))))),
      soft(signed(x)),
    )
    return [swatch(x), value]
  }
  const leaf = (b, family) => {
    const [spot, value] = figures([b]),
      name = element('span', { class: 'name' }, toLanguage(b), family && soft(family))
    return element('li', { class: 'leaf' }, spot, name, value)
  }
  const branch = (node, depth) => {
    const bibles = members(node),
      [spot, value] = figures(bibles)
    if (bibles.length === 1) return leaf(bibles[0], !depth && bibles[0].family)
    const shownAs = x => (x.code ? x.language : members(x).length === 1 ? members(x)[0].language : x.name)
    const inside = [...node.groups, ...node.bibles]
      .sort((x, y) => collator.compare(shownAs(x), shownAs(y)))
      .map(x => (x.code ? leaf(x) : branch(x, depth + 1)))
    const family = bibles[0].family,
      named = depth ? node.name : family
    const ranks = depth || state.family ? [] : [link({ family, view: 'overview' }, `Ranks within ${family}`)]
    const text = element(
      'span',
      { class: 'name', title: node.above },
      named,
      soft(narrow ? `${bibles.length}` : count(bibles.length, 'translation')),
    )
    return element(
      'li',
      {},
      element(
        'details',
        of.size <= 60 || (narrow ? false : depth > 0) ? { open: '' } : {},
        element('summary', {}, spot, text, value),
        element('ul', {}, ...inside),
        ...ranks.map(a => element('p', { class: 'small' }, a)),
      ),
    )
  }
  const size = node => members(node).length
  const roots = [...grow([...of.keys()]).groups].sort(
    (a, b) => size(b) - size(a) || collator.compare(members(a)[0].family, members(b)[0].family),
  )
  return [
    section(
      'tree',
      'Tree of languages',
      `Families, their branches (Glottolog, CC BY 4.0) and languages, the largest family first: ${metric.title}, the mean of the results shown${metric.percent ? ' in percent' : ''}, and how far it is above the majority label. Branches with one branch in them are left out.`,
      scale(),
      element('ul', { class: 'tree', id: 'tree' }, ...roots.map(g => branch(g, 0))),
    ),
  ]
}
