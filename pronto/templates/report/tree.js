// The tree of languages

const WITHIN = { family: b => b.groups, script: b => [b.script, b.family] } // The groups of a translation, from the largest on
function grow(bibles, groupsOf) {
  // Groups within groups; a group with a single group in it is left out
  const root = { groups: new Map(), bibles: [], name: '' }
  for (const b of bibles) {
    let at = root
    for (const name of groupsOf(b)) {
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
    ),
    first = state.by === 'script' ? 'script' : 'family'
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
  const leaf = (b, group) => {
    const [spot, value] = figures([b]),
      name = element('span', { class: 'name' }, toLanguage(b), group && soft(group))
    return element('li', { class: 'leaf' }, spot, name, value)
  }
  const branch = (node, depth) => {
    const bibles = members(node),
      [spot, value] = figures(bibles)
    if (bibles.length === 1) return leaf(bibles[0], !depth && bibles[0][first])
    const shownAs = x => (x.code ? x.language : members(x).length === 1 ? members(x)[0].language : x.name)
    const inside = () =>
      [...node.groups, ...node.bibles]
        .sort((x, y) => collator.compare(shownAs(x), shownAs(y)))
        .map(x => (x.code ? leaf(x) : branch(x, depth + 1)))
    const group = bibles[0][first],
      named = depth ? node.name : group
    const ranks = depth || state[first] ? [] : [link({ [first]: group, view: 'overview' }, `Ranks within ${group}`)]
    const text = element(
      'span',
      { class: 'name', title: node.above },
      named,
      soft(narrow ? `${bibles.length}` : count(bibles.length, 'translation')),
    )
    return element(
      'li',
      {},
      folded(of.size <= 60 || (!narrow && depth > 0) ? { open: '' } : {}, [spot, text, value], () => [
        ...ranks.map(a => element('p', { class: 'small' }, a)),
        element('ul', {}, ...inside()),
      ]),
    )
  }
  const size = node => members(node).length
  const roots = [...grow([...of.keys()], WITHIN[first]).groups].sort(
    (a, b) => size(b) - size(a) || collator.compare(members(a)[0][first], members(b)[0][first]),
  )
  const large = roots.filter(g => size(g) > 1),
    single = roots.filter(g => size(g) === 1),
    together = of.size > 60 && single.length > 1
  const shown = (together ? large : roots).map(g => branch(g, 0))
  if (together) {
    const bibles = single.flatMap(members),
      [spot, value] = figures(bibles),
      text = element('span', { class: 'name' }, 'With one translation each', soft(`${bibles.length}`))
    shown.push(element('li', {}, folded({}, [spot, text, value], () => [element('ul', {}, ...bibles.map(b => leaf(b, b[first])))])))
  }
  const other = first === 'family' ? 'script' : 'family'
  return [
    section(
      'tree',
      'Tree of languages',
      `${first === 'family' ? 'Families, their branches (Glottolog, CC BY 4.0) and languages, the largest family' : 'Scripts, families and languages, the largest script'} first: ${metric.title}, the mean of the results shown${metric.percent ? ' in percent' : ''}, and how far it is above ${zero()}. Branches with one branch in them are left out.`,
      unique([...of.keys()].map(b => b[other])).length > 1 &&
        element('p', {}, link({ by: other === 'family' ? '' : other }, `Show by ${other} instead`)),
      scale(),
      element('ul', { class: 'tree', id: 'tree' }, ...shown),
    ),
  ]
}
