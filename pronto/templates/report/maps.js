// Maps and plots

let deepest = 0.35 // How far above or below the majority label a colour is full
function fit(found) {
  const bibles = grouped(
    found.filter(r => over(r) != null),
    r => r.bible,
  )
  const most = Math.max(0, ...[...bibles.values()].map(rs => Math.abs(mean(rs.map(over)))))
  deepest = [0.05, 0.1, 0.2, 0.35, 0.5, 1, 2].find(x => x >= most) ?? 4
}
function tint(x) {
  // Of how far a score is above the majority label
  const share = Math.min(1, Math.abs(x) / deepest)
  return `color-mix(in srgb, var(${x > 0 ? '--mark' : '--bad'}) ${(20 + 80 * share).toFixed(0)}%, var(--dust))`
}
function swatch(x) {
  const e = element('span', { class: 'swatch', 'aria-hidden': 'true' })
  e.style.background = x === 0 ? 'var(--dust)' : tint(x)
  return e
}
function scale() {
  // The legend of map and tree
  const steps = [-1, -0.5, 0, 0.5, 1].map(k => k * deepest)
  const text = x => (x === 0 ? `as ${zero()}` : signed(x))
  return element('ul', { class: 'legend scale' }, ...steps.map(x => element('li', {}, swatch(x), text(x))))
}
function map(found) {
  const places = grouped(
    found.filter(r => r.bible.place && over(r) != null),
    r => r.bible.place.join(),
  )
  const lost = unique(found.filter(r => !r.bible.place).map(r => r.bible.language)),
    parts = []
  if (!places.size) return []
  for (let x = -180; x <= 180; x += 30) parts.push(`M${x} -80V60`)
  for (let y = -60; y <= 60; y += 30) parts.push(`M-180 ${y}H180`)
  const spots = [...places].map(([place, rs]) => {
    const [latitude, longitude] = place.split(','),
      x = mean(rs.map(over)),
      b = rs[0].bible
    const says = `${unique(rs.map(r => r.bible.language)).join(', ')}: ${figure(mean(rs.map(score)))}, ${signed(x)} over ${zero()}`
    const spot = element(
      'circle',
      { class: 'spot', cx: longitude, cy: -latitude, r: places.size > 200 ? 1.6 : 2.6, fill: tint(x) },
      element('title', {}, says),
    )
    const a = document.createElementNS('http://www.w3.org/2000/svg', 'a')
    a.setAttribute('href', address({ view: 'language', of: b.code, sort: '' }))
    a.setAttribute('tabindex', '-1')
    a.append(spot)
    return a
  })
  const dust = D.world
    .split(' ')
    .filter(Boolean)
    .map(p => p.split(','))
    .map(([lat, lon]) => `M${lon} ${-lat}h0`)
    .join('')
  return [
    section(
      'map',
      'Map',
      `Each spot is a place with one or more of the languages: ${metric.title} above (blue) or below (red) ${zero()}${metric.percent ? ', in points' : ''}, the mean of the results shown. The small grey dots are where any language or dialect is spoken, in whole degrees (Glottolog, CC BY 4.0).${lost.length ? ` Not on the map: ${lost.slice(0, 20).join(', ')}${lost.length > 20 ? ` and ${lost.length - 20} more` : ''}.` : ''}`,
      scale(),
      element(
        'svg',
        {
          id: 'map',
          class: 'map',
          viewBox: '-180 -80 360 140',
          role: 'img',
          'aria-label': `Map of ${count(places.size, 'place')}`,
        },
        element('path', { class: 'axis', d: parts.join(''), 'stroke-width': 0.4 }),
        element('path', { class: 'dust', d: dust, 'stroke-width': 1 }),
        ...spots,
      ),
    ),
  ]
}

const look = entry => [
  COLOURS[entry.place % COLOURS.length],
  SHAPES[Math.floor(entry.place / COLOURS.length) % SHAPES.length],
]
const MOST = 25 // Groups in a plot that one can read
function bySize(found, field) {
  // The groups of a plot with the most translations, and the others, each in the order of names
  const bibles = grouped(
    unique(found.filter(r => over(r) != null).map(r => r.bible)),
    b => b[field],
  )
  const names = [...bibles.keys()].sort((a, b) => bibles.get(b).length - bibles.get(a).length || collator.compare(a, b))
  return [names.slice(0, MOST), names.slice(MOST)].map(some => some.sort(collator.compare))
}
function plot(found, field, names) {
  // How far models are above the majority label, on average over each group
  const groups = grouped(
    found.filter(r => over(r) != null),
    r => r.bible[field],
  )
  const width = Math.max(300, by('main').clientWidth),
    above = width < 480, // A phone has names above their marks
    left = above ? 8 : Math.min(190, width * 0.36),
    line = above ? 40 : 26,
    height = names.length * line + 44
  const dots = names.map(name =>
    [...grouped(groups.get(name), r => r.entry)].map(([entry, rs]) => ({ entry, x: mean(rs.map(over)) })),
  )
  const xs = dots.flat().map(d => d.x),
    least = Math.floor(Math.min(-0.05, ...xs) * 10) / 10,
    most = Math.ceil(Math.max(0.1, ...xs) * 10) / 10
  const at = v => left + 8 + ((v - least) / (most - least)) * (width - left - 24),
    room = (width - left - 24) / 62,
    step = [0.02, 0.05, 0.1, 0.2, 0.5].find(x => (most - least) / x < room) ?? 1,
    parts = []
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + 1e-9; i++)
    parts.push(
      element('line', { x1: at(i * step), x2: at(i * step), y1: 4, y2: height - 36, class: i ? 'axis' : 'zero' }),
      element(
        'text',
        { x: at(i * step), y: height - 20, 'text-anchor': 'middle' },
        i ? signed(i * step).replace(/\.0$/, '') : '0',
      ),
    )
  names.forEach((name, i) => {
    const y = 4 + line * (i + (above ? 0.75 : 0.5)),
      languages = unique(groups.get(name).map(r => r.bible)).length,
      fits = above ? 60 : Math.floor(left / 7.5) - String(languages).length - 3
    parts.push(
      element(
        'text',
        above ? { x: 0, y: y - 13 } : { x: left, y: y + 4, 'text-anchor': 'end' },
        element('title', {}, name),
        `${name.length > fits ? name.slice(0, fits - 1) + '…' : name} (${languages})`,
      ),
    )
    dots[i].forEach(({ entry, x }, k) =>
      parts.push(
        element(
          'path',
          {
            class: 'dot',
            d: look(entry)[1][1],
            transform: `translate(${at(x)} ${y + (((k * 2) % 5) - 2) * 3})`,
            fill: look(entry)[0],
            opacity: 0.85,
          },
          element('title', {}, `${entry.name}, ${name}: ${signed(x)}`),
        ),
      ),
    )
  })
  parts.push(
    element(
      'text',
      { x: width - 8, y: height - 3, 'text-anchor': 'end' },
      `${metric.title} above ${zero()}${metric.percent ? ', in points' : ''}`,
    ),
  )
  const says = names.map((name, i) => `${name} ${signed(mean(dots[i].map(d => d.x)))}`).join('; ')
  return element(
    'svg',
    {
      class: `by-${field}`,
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `Mean ${metric.title} above ${zero()} by ${field}: ${says}`,
    },
    ...parts,
  )
}
function plots(found) {
  const there = ['family', 'script'].filter(f => unique(found.map(r => r.bible[f])).length > 1)
  if (!there.length) return []
  const entries = unique(found.map(r => r.entry)).sort((a, b) => a.place - b.place)
  const legend = entries.map(e => {
    const mark = element('span', { 'aria-hidden': 'true' }, `${look(e)[1][0]} `)
    mark.style.color = look(e)[0]
    return element('li', {}, mark, e.name)
  })
  const drawn = field => {
    const [large, others] = bySize(found, field),
      more = () => [plot(found, field, others)]
    return [
      element('h3', {}, FILTERS[field], others.length && soft(`the ${large.length} with most translations`)),
      plot(found, field, large),
      others.length && folded({ class: 'soft' }, [`${others.length} smaller ones`], more),
    ]
  }
  return [
    section(
      'plots',
      'By family and script',
      `Each mark is the mean of a model over the languages of a group (their number in brackets); right of the dashed line it is above ${zero()}.`,
      element('ul', { class: 'legend', id: 'legend' }, ...legend),
      ...there.flatMap(drawn),
    ),
  ]
}
