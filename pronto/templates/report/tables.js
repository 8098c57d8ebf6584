// Tables: a column has key, text, value (to sort and save) and perhaps show, number, tint (the background), wide (not on a phone), title

const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/,
  NUMBER = /^[+-]?\d[\d.,]*([eE][+-]?\d+)?%?$/ // As in pronto.core.tables
const safe = x => (typeof x === 'string' && FORMULA.test(x) && !NUMBER.test(x) ? `'${x}` : x)
const quoted = x => (/[",\r\n]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x)
const csv = lines => lines.map(cells => cells.map(x => quoted(String(safe(x ?? '')))).join(',') + '\n').join('')
function save(text, name, type) {
  const url = URL.createObjectURL(new Blob(type === 'text/csv' ? ['\ufeff', text] : [text], { type }))
  element('a', { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

const explanation = text =>
  element('details', { class: 'soft' }, element('summary', {}, 'How to read this'), element('p', {}, text))

function bar(x, reference) {
  // A strip below a score, with a tick where its best baseline is; it is empty at 0, and below, where a metric has that
  const least = Math.max(0, metric.low),
    at = value => `${Math.max(0, (100 * (value - least)) / (metric.high - least)).toFixed(1)}%`,
    strip = (height, parts) => `linear-gradient(to right, ${parts}) center bottom / calc(100% - 1rem) ${height}px no-repeat`,
    to = at(reference ?? least)
  const tick = `transparent calc(${to} - 1px), var(--fore) 0 calc(${to} + 1px), transparent 0`
  const full = strip(4, `color-mix(in srgb, var(--mark) 45%, transparent) ${at(x)}, var(--line) 0`)
  return reference == null ? full : `${strip(7, tick)}, ${full}`
}

function block(items, line, columns) {
  // Rows of a long table, and the gap that they leave while they are out of sight
  const body = element('tbody'),
    gap = element('tr', { class: 'gap' }, element('td', { colspan: columns }))
  const fill = () => {
    if (!body.children.length || body.contains(gap)) body.replaceChildren(...items.map(line))
  }
  const leave = row => {
    // `row` is the height of a row in pixels, where these were never in sight
    if (body.contains(document.activeElement)) return
    const known = body.children.length && !body.contains(gap)
    gap.firstChild.style.height = `${known ? body.offsetHeight : row * items.length}px`
    body.replaceChildren(gap)
  }
  return Object.assign(body, { fill, leave, length: items.length })
}
function inSight(frame, blocks) {
  // Only rows near those that a frame shows are in the page
  const heads = [...frame.querySelectorAll('thead th')]
  blocks.forEach((b, i) => (i ? b.leave(34) : b.fill()))
  const look = seen => {
    const row = blocks[0].offsetHeight / blocks[0].length
    for (const { target, isIntersecting } of seen) isIntersecting ? target.fill() : target.leave(row)
    for (const th of heads) th.style.minWidth = `${th.offsetWidth}px` // Or columns would move while one scrolls
  }
  const watch = new IntersectionObserver(look, { root: frame, rootMargin: '600px 0px' })
  for (const b of blocks) watch.observe(b)
  return frame
}
addEventListener('beforeprint', () => {
  for (const body of document.querySelectorAll('tbody')) body.fill?.()
})

function table(id, given, items, { title, finding, note = '', sort = '', saved = given, last = [] }) {
  const says = c => !items.length || items.some(r => c.value(r) !== 'not known')
  const columns = given.filter(c => c && says(c)), // The file has all
    inFile = saved.filter(Boolean)
  const chosen = (state.sort ?? '').match(/^(-?)(\w+)\.(.+)$/),
    own = chosen?.[2] === id && columns.some(c => c.key === chosen[3])
  const [down, key] = own ? [chosen[1] === '-', chosen[3]] : [sort.startsWith('-'), sort.replace('-', '')]
  const field = columns.find(c => c.key === key)
  const ordered = field
    ? items
        .map(r => [field.value(r), r])
        .sort((a, b) => inOrder(a[0], b[0], down))
        .map(([, r]) => r)
    : items
  const heading = c => {
    const direction = c.key !== key ? 'none' : down ? 'descending' : 'ascending'
    const to = `${c.key === key ? (down ? '' : '-') : c.number ? '-' : ''}${id}.${c.key}`
    const click = () => {
      change({ sort: to })
      ;[...document.querySelectorAll(`#${id} thead button`)]
        .find(b => b.dataset.key === c.key)
        ?.focus({ preventScroll: true })
    }
    return element(
      'th',
      { scope: 'col', 'aria-sort': direction, class: look(c), title: c.title },
      element('button', { type: 'button', 'data-key': c.key, onclick: click }, ...breakable(c.text)),
    )
  }
  const look = c => [c.number && 'number', c.wide && 'wide', c.wrap && 'wrap'].filter(Boolean).join(' ')
  const cell = (c, r, i) => {
    const content = [c.show ? c.show(r) : String(c.value(r) ?? '–')].flat()
    const e = element(
      i ? 'td' : 'th',
      { ...(i ? {} : { scope: 'row' }), class: `${look(c)}${c.best?.(r) ? ' best' : ''}`, 'data-label': c.text },
      ...content,
    )
    if (c.tint) e.style.background = c.tint(r) // Not an attribute, which the policy would forbid
    return e
  }
  const line = r => element('tr', r.reference ? { class: 'reference' } : {}, ...columns.map((c, i) => cell(c, r, i)))
  const name = `h-${id}`,
    long = ordered.length > BLOCK
  const bodies = () => {
    const starts = ordered.map((_, i) => i).filter(i => i % BLOCK === 0),
      blocks = starts.map(i => block(ordered.slice(i, i + BLOCK), line, columns.length))
    return [blocks, last.length && element('tbody', {}, ...last.map(line))]
  }
  const frame = () => {
    const [blocks, ending] = bodies()
    const e = element(
      'div',
      { class: long ? 'scroll long' : 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': name },
      element(
        'table',
        { 'aria-rowcount': long ? items.length + last.length + 1 : null },
        element('thead', {}, element('tr', {}, ...columns.map(heading))),
        ...blocks,
        ending,
      ),
    )
    return inSight(e, blocks)
  }
  const file = [`pronto-${id}`, state.of && state.of.replace(/[^\w.-]+/g, '-').slice(0, 60)].filter(Boolean).join('-')
  const text = () => csv([inFile.map(c => c.key), ...ordered.map(r => inFile.map(c => c.value(r)))])
  return element(
    'section',
    { id, 'aria-labelledby': name },
    element('h2', { id: name }, title),
    finding && element('p', { id: 'finding' }, finding),
    note && explanation(note),
    items.length ? frame() : element('p', {}, 'Nothing to show; clear some filters.'),
    element(
      'p',
      { class: 'after' },
      items.length &&
        element('button', { type: 'button', onclick: () => save(text(), `${file}.csv`, 'text/csv') }, 'Save as CSV'),
      long && soft(`${count(items.length, 'row')}, in a frame that scrolls`),
    ),
  )
}

function interval(r) {
  // A bar with the score on it, majority as a tick
  const at = x => (64 * (x - metric.low)) / (metric.high - metric.low),
    low = get(r, 'low'),
    high = get(r, 'high')
  const parts = [element('rect', { x: 0, y: 6, width: 64, height: 2, fill: 'var(--line)' })]
  if (get(r, 'majority') != null)
    parts.push(element('rect', { x: at(get(r, 'majority')), y: 2, width: 1, height: 10, fill: 'var(--soft)' }))
  if (low != null)
    parts.push(
      element('rect', {
        x: at(low),
        y: 5,
        width: Math.max(1, at(high) - at(low)),
        height: 4,
        fill: 'var(--mark)',
        opacity: 0.45,
      }),
    )
  parts.push(element('circle', { cx: at(score(r)), cy: 7, r: 3, fill: 'var(--mark)' }))
  return element('svg', { class: 'bar', width: 70, height: 14, viewBox: '-3 0 70 14', 'aria-hidden': 'true' }, ...parts)
}
