'use strict'
// The state of the page is in its address. A view is a function from the chosen results to sections; names are shown as text, never as HTML.
const by = id => document.getElementById(id)
const narrow = matchMedia('(max-width: 46rem)').matches
const PAGE = narrow ? 20 : 100 // Rows of a table before "Show more"
const VIEWS = {
  overview: 'Overview',
  languages: 'Languages',
  families: 'Families',
  results: 'Results',
  compare: 'Compare',
}
const FILTERS = {
  protocol: 'Protocol',
  data: 'Data',
  metric: 'Metric',
  task: 'Task',
  language: 'Language',
  family: 'Family',
  script: 'Script',
  tier: 'Seen in pretraining',
  model: 'Model',
}
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7a6ff0', '#8c6d31']
const SHAPES = [
  ['●', 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0'],
  ['■', 'M-3.6-3.6h7.2v7.2h-7.2z'],
  ['◆', 'M0-5.2L5.2 0 0 5.2-5.2 0z'],
  ['▲', 'M0-5L5 4H-5z'],
  ['▼', 'M0 5L5-4H-5z'],
]
const SVG = ['svg', 'line', 'circle', 'path', 'rect', 'text', 'title']
let D, rows, state, metric, S // The data, all results, the address, the metric and its columns
let more = {} // How many rows of which table are shown

// Small tools

function element(tag, attributes = {}, ...children) {
  const e = SVG.includes(tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag)
  for (const [k, v] of Object.entries(attributes))
    k.startsWith('on') ? e.addEventListener(k.slice(2), v) : v != null && e.setAttribute(k, v)
  e.append(...children.filter(c => typeof c === 'string' || c instanceof Node)) // Without what a condition left out
  return e
}
const unique = xs => [...new Set(xs)]
const mean = xs => (xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : null)
const count = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`
const breakable = name => name.split(/(?<=[/_])/).flatMap((part, i) => (i ? [element('wbr'), part] : [part]))
const soft = text => element('span', { class: 'small' }, ` ${text}`)
const collator = new Intl.Collator('en', { numeric: true })
const inOrder = (a, b, down) =>
  a == null
    ? b == null
      ? 0
      : 1
    : b == null
      ? -1
      : (down ? -1 : 1) * (typeof a == 'number' ? a - b : collator.compare(a, b))
function grouped(xs, key) {
  const found = new Map()
  for (const x of xs) {
    const k = key(x)
    found.has(k) ? found.get(k).push(x) : found.set(k, [x])
  }
  return found
}

// Figures

const digits = (x, m) => (m.percent ? (100 * x).toFixed(1) : x.toFixed(2))
const figure = (x, m = metric) => (x == null ? '–' : digits(x, m).replace('-', '−'))
const signed = (x, m = metric) => (x == null ? '–' : (x < 0 ? '−' : '+') + digits(Math.abs(x), m))
const pValue = p => (p == null ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3))
const get = (r, k, columns = S) => (columns[k][r.i] == null ? null : columns[k][r.i] / 1e4)
const score = r => get(r, 'score'),
  gain = r => get(r, 'gain')
const over = r => (get(r, 'majority') == null ? null : (metric.less ? -1 : 1) * (score(r) - get(r, 'majority')))
const ofBaseline = r => (gain(r) == null ? null : score(r) + (metric.less ? 1 : -1) * gain(r))
const above = r => S.above[r.i]
const testSet = r => `${r.bible.code}\n${r.task.name}` // Of the results that are shown together
function holm(ps) {
  // Corrected for their number
  const order = ps
      .map((_, i) => i)
      .filter(i => ps[i] != null)
      .sort((a, b) => ps[a] - ps[b]),
    found = ps.map(() => null)
  let largest = 0
  order.forEach((i, k) => {
    found[i] = largest = Math.max(largest, Math.min(1, ps[i] * (order.length - k)))
  })
  return found
}

// The address

const parse = text => Object.fromEntries(new URLSearchParams(text))
function address(changes = {}) {
  const all = Object.entries({ ...state, ...changes }).filter(([k, v]) => v && !(k === 'view' && v === 'overview'))
  return '#' + new URLSearchParams(all)
}
function readAddress() {
  const kept = document.documentElement.dataset.view ?? ''
  const given = location.search.length > 1 || location.hash.length > 1
  state = {
    view: 'overview',
    ...(given ? { ...parse(location.search), ...parse(location.hash.slice(1)) } : parse(kept)),
  }
}
function change(changes) {
  // Stays on the view
  Object.assign(state, changes)
  history.replaceState(null, '', address())
  more = {}
  draw()
}
const link = (changes, ...text) => element('a', { href: address({ sort: '', ...changes }) }, ...text)
const short = model => (narrow ? model.split('/').pop() : model) // A phone has no room for the owner
const toModel = entry =>
  link({ view: 'model', of: entry.name }, ...breakable(short(entry.model)), entry.variant && soft(entry.variant))
const toLanguage = b =>
  link({ view: 'language', of: b.code }, b.language, ...(b.language === b.code ? [] : [soft(b.code)]))
const toResult = (r, text) => link({ view: 'result', of: r.id }, text)

// Tables: a column has key, text, value (to sort and save) and perhaps show, number, wide (not on a phone), title

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
  narrow
    ? element('details', { class: 'soft' }, element('summary', {}, 'How to read this'), element('p', {}, text))
    : element('p', { class: 'soft' }, text)

function table(id, given, items, { title, note = '', sort = '', saved = given, last = [] }) {
  const columns = given.filter(Boolean),
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
  const n = more[id] ?? PAGE,
    name = `h-${id}`
  const further = () => {
    more[id] = n + PAGE
    draw()
    by(id)
      .querySelector(`tbody tr:nth-child(${n + 1}) a`)
      ?.focus()
  }
  const file = [`pronto-${id}`, state.of && state.of.replace(/[^\w.-]+/g, '-').slice(0, 60)].filter(Boolean).join('-')
  const text = () => csv([inFile.map(c => c.key), ...ordered.map(r => inFile.map(c => c.value(r)))])
  return element(
    'section',
    { id, 'aria-labelledby': name },
    element('h2', { id: name }, title),
    note && explanation(note),
    items.length
      ? element(
          'div',
          { class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': name },
          element(
            'table',
            {},
            element('thead', {}, element('tr', {}, ...columns.map(heading))),
            element('tbody', {}, ...ordered.slice(0, n).map(line), ...last.map(line)),
          ),
        )
      : element('p', {}, 'Nothing to show; clear some filters.'),
    element(
      'p',
      { class: 'after' },
      ...(n < items.length
        ? [
            element(
              'button',
              { type: 'button', onclick: further },
              `Show more (${n} of ${items.length.toLocaleString('en')})`,
            ),
            ' ',
          ]
        : []),
      items.length &&
        element('button', { type: 'button', onclick: () => save(text(), `${file}.csv`, 'text/csv') }, 'Save as CSV'),
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

// Ranks: by tests over several test sets, which are known for all results of a board, a task or a translation

function scopeOf(found) {
  // The name of the test sets that are shown, where their ranks are known: those of all translations, a family, a script or both
  if (['tier', 'model', 'q'].some(k => state[k])) return null
  const here = board(),
    bibles = new Set(found.map(r => r.bible)),
    tasks = unique(found.map(r => r.task))
  const area = [...bibles].map(b => b.i).sort((a, b) => a - b).join()
  const there = rows.filter(r => r.main && r.board === here && bibles.has(r.bible) && S.score[r.i] != null)
  const single = tasks.length === 1 && unique(there.map(r => r.task)).length > 1
  return [here.i, metric.key, area, single ? tasks[0].name : ''].join('|')
}
function standing(found) {
  const tasks = unique(found.map(r => r.task)),
    bibles = unique(found.map(r => r.bible)),
    scope = scopeOf(found)
  if (scope && tasks.length === 1 && bibles.length === 1) return ranksOfTestSet(found)
  const inside = D.groups.get(scope) ?? []
  const models = inside.filter(g => g.seeds != null && g.group),
    shares = (a, b) => a.group.match(/(.)\1*/g).some(x => b.group.match(/(.)\1*/g).includes(x))
  const better = (a, b) => (metric.less ? a.mean < b.mean : a.mean > b.mean)
  const rank = g => 1 + models.filter(o => better(o, g) && !shares(o, g)).length,
    ranks = models.map(rank)
  return new Map(
    inside.map(g => [
      g.model,
      {
        meanRank: models.length > 1 || inside.filter(o => o.seeds != null).length > 1 ? g.rank : null,
        group: g.group,
        rank: g.group && g.seeds ? rank(g) : null,
        tied: ranks.filter(x => x === rank(g)).length > 1,
      },
    ]),
  )
}
const ranksOfTestSet = found => new Map(found.map(r => [r.entry.name, { rank: S.rank[r.i], tied: S.tied[r.i] }]))
const ranked = x => (x?.rank == null ? '–' : x.tied ? `${x.rank} =` : `${x.rank}`)
const MIXED =
  ' The number of test sets is given where a model did not run on all of them; such means are not comparable, and such models have no rank.'
const RANKS =
  'A rank is one more than the number of models that are clearly better by tests over chapters and seeds (5 %, corrected by Holm); models that the tests do not tell apart share it ("=") or have a letter in common; baselines are in these groups too. A family or a script has ranks of its own. There are none with fewer than three seeds, nor while a tier, model or search is chosen.'

function ranking(found, title) {
  // Models by tasks
  const tasks = unique(found.map(r => r.task)).sort((a, b) => a.order - b.order),
    place = standing(found)
  const total = new Map([...grouped(found, r => r.task)].map(([t, rs]) => [t, unique(rs.map(r => r.bible)).length]))
  const average = (rs, of) => {
    // Per task, and over tasks if there are all test sets
    const byTask = grouped(rs, r => r.task)
    const cells = new Map(
      tasks.map(t => {
        const xs = (byTask.get(t) ?? []).map(of).filter(x => x != null)
        return [t, { mean: mean(xs), n: xs.length }]
      }),
    )
    const whole = tasks.every(t => cells.get(t).n === total.get(t))
    return { cells, mean: whole ? mean(tasks.map(t => cells.get(t).mean)) : null }
  }
  const items = [...grouped(found, r => r.entry)].map(([entry, rs]) => ({
    entry,
    ...average(rs, score),
    ...place.get(entry.name),
    beat: rs.filter(above).length,
    of: rs.filter(r => above(r) != null).length,
  }))
  const testSets = [...grouped(found, testSet).values()].map(rs => rs[0])
  const references = [
    ['majority label', r => get(r, 'majority')],
    ['best baseline', ofBaseline],
  ]
    .map(([name, of]) => ({ reference: true, entry: { name }, ...average(testSets, of) }))
    .filter(x => tasks.some(t => x.cells.get(t).n))
  const best = t => {
    // Of the models that ran on all test sets, if there are several
    const xs = items
      .map(x => x.cells.get(t))
      .filter(c => c.n === total.get(t))
      .map(c => c.mean)
    if (xs.length < 2) return null
    return metric.less ? Math.min(...xs) : Math.max(...xs)
  }
  const tops = new Map(tasks.map(t => [t, best(t)])),
    sign = metric.less ? '' : '-'
  const columns = [
    {
      key: 'model',
      text: 'Model',
      value: x => x.entry.name,
      show: x => (x.reference ? x.entry.name : toModel(x.entry)),
    },
    items.some(x => x.rank != null) && {
      key: 'rank',
      text: 'Rank',
      number: true,
      value: x => x.rank,
      show: x => (x.reference ? '' : ranked(x)),
    },
    ...tasks.map(t => ({
      key: t.name,
      text: t.name,
      number: true,
      title: t.question,
      value: x => x.cells.get(t).mean,
      best: x => !x.reference && x.cells.get(t).n === total.get(t) && x.cells.get(t).mean === tops.get(t),
      show: x => [
        figure(x.cells.get(t).mean),
        x.cells.get(t).n && x.cells.get(t).n < total.get(t) && soft(`${x.cells.get(t).n} of ${total.get(t)}`),
      ],
    })),
    tasks.length > 1 && {
      key: 'mean',
      text: 'Mean',
      number: true,
      title: 'Mean over the tasks, of models that ran on all test sets',
      value: x => x.mean,
      show: x => figure(x.mean),
    },
    items.some(x => x.meanRank) && {
      key: 'mean_rank',
      text: 'Mean rank',
      number: true,
      title: 'Mean of the ranks by score on each test set, baselines included',
      value: x => x.meanRank,
      show: x => (x.reference ? '' : (x.meanRank?.toFixed(2) ?? '–')),
    },
    items.some(x => x.group) && {
      key: 'group',
      text: 'Group',
      value: x => x.group || null,
      show: x => (x.reference ? '' : x.group || '–'),
    },
    {
      key: 'above',
      text: 'Above baselines',
      number: true,
      title: 'On how many test sets the model is clearly better than the best baseline',
      value: x => (x.of ? x.beat / x.of : null),
      show: x => (x.of ? `${x.beat} of ${x.of}` : ''),
    },
  ]
  const note = `${metric.title}${metric.percent ? ' in percent' : ''}, the mean over ${unique(found.map(r => r.bible)).length > 1 ? 'translations' : 'test items and seeds'}; the best of each task is bold, of the models that ran on all its test sets.${items.some(x => tasks.some(t => x.cells.get(t).n < total.get(t))) ? MIXED : ''} ${RANKS}`
  return table('ranking', columns, items, {
    title,
    note,
    sort: tasks.length > 1 ? sign + 'mean' : sign + tasks[0]?.name,
    last: references,
  })
}

// Results, one line each

const COLUMNS = [
  { key: 'model', text: 'Model', value: r => r.entry.model, show: r => toModel(r.entry) },
  { key: 'language', text: 'Language', wrap: true, value: r => r.bible.language, show: r => toLanguage(r.bible) },
  { key: 'task', text: 'Task', value: r => r.task.name },
  {
    key: 'score',
    get text() {
      return metric.title
    },
    number: true,
    value: score,
    show: r => [
      toResult(r, figure(score(r))),
      ...(r.collapsed
        ? [
            ' ',
            element(
              'span',
              { class: 'flag', title: 'gave the same answer to everything with at least one seed' },
              'collapsed',
            ),
          ]
        : []),
    ],
  },
  {
    key: 'low',
    text: '95 % interval',
    number: true,
    wide: true,
    value: r => get(r, 'low'),
    show: r => [get(r, 'low') == null ? '–' : `${figure(get(r, 'low'))}–${figure(get(r, 'high'))} `, interval(r)],
  },
  {
    key: 'gain',
    text: 'Over baseline',
    number: true,
    value: gain,
    show: r => [
      signed(gain(r)),
      above(r) === false && element('span', { class: 'flag', title: `not above ${S.baseline[r.i]} by test` }, '§'),
    ],
  },
  {
    key: 'rank',
    text: 'Rank',
    number: true,
    value: r => S.rank[r.i],
    show: r => ranked({ rank: S.rank[r.i], tied: S.tied[r.i] }),
  },
  {
    key: 'majority',
    text: 'Majority',
    number: true,
    wide: true,
    value: r => get(r, 'majority'),
    show: r => figure(get(r, 'majority')),
  },
  {
    key: 'seeds',
    text: 'Seeds',
    number: true,
    wide: true,
    value: r => r.seeds,
    show: r => [`${r.seeds}`, r.seeds > 1 && soft(`${figure(get(r, 'seed_low'))}–${figure(get(r, 'seed_high'))}`)],
  },
  { key: 'setting', text: 'Setting', wide: true, wrap: true, value: r => r.setting },
]
const SAVED = [
  'model',
  'variant',
  'language',
  'bible',
  'family',
  'script',
  'task',
  'metric',
  'score',
  'low',
  'high',
  'gain',
  'baseline',
  'above',
  'rank',
  'tied',
  'majority',
  'seeds',
  'seed_low',
  'seed_high',
  'collapsed',
  'items',
  'limit',
  'protocol',
  'setting',
].map(key => ({ key, value: r => everything(r)[key] }))
const everything = r => ({
  model: r.entry.model,
  variant: r.entry.variant,
  language: r.bible.language,
  bible: r.bible.code,
  family: r.bible.family,
  script: r.bible.script,
  task: r.task.name,
  metric: metric.key,
  protocol: r.board.protocol,
  collapsed: r.collapsed,
  setting: r.setting,
  seeds: r.seeds,
  items: r.items,
  limit: r.limit,
  ...Object.fromEntries(['score', 'low', 'high', 'gain', 'majority', 'seed_low', 'seed_high'].map(k => [k, get(r, k)])),
  ...Object.fromEntries(['baseline', 'above', 'rank', 'tied'].map(k => [k, S[k][r.i]])),
})
const results = (found, title = 'Results', without = []) =>
  table(
    'results',
    COLUMNS.filter(c => !without.includes(c.key)).sort((a, b) =>
      without.includes('model') ? (b.key === 'language') - (a.key === 'language') : 0,
    ),
    found,
    {
      title,
      saved: SAVED,
      sort: '-gain',
      note: 'The mean over test items and seeds, with a 95 % interval over chapters and seeds. The baseline is the best on the same test set (majority label, look-up, character n-grams, nearest verse); § says that a test does not find the model above it (5 %, each row by itself). A score leads to its details and records.',
    },
  )

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
  const text = x => (x === 0 ? 'as the majority label' : signed(x))
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
    const says = `${unique(rs.map(r => r.bible.language)).join(', ')}: ${figure(mean(rs.map(score)))}, ${signed(x)} over the majority label`
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
    element(
      'section',
      { id: 'map', 'aria-labelledby': 'h-map' },
      element('h2', { id: 'h-map' }, 'Map'),
      element(
        'p',
        { class: 'soft' },
        `Each spot is a language: ${metric.title} above (blue) or below (red) the majority label${metric.percent ? ', in points' : ''}, the mean of the results shown. The small grey dots are all places with a language (Glottolog, CC BY 4.0).${lost.length ? ` Not on the map: ${lost.slice(0, 20).join(', ')}${lost.length > 20 ? ` and ${lost.length - 20} more` : ''}.` : ''}`,
      ),
      scale(),
      element(
        'svg',
        {
          class: 'map',
          viewBox: '-180 -80 360 140',
          role: 'img',
          'aria-label': `Map of ${count(places.size, 'language')}`,
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
function plot(found, field) {
  // How far models are above the majority label, on average over each group
  const groups = grouped(
      found.filter(r => over(r) != null),
      r => r.bible[field],
    ),
    names = [...groups.keys()].sort(collator.compare)
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
      `${metric.title} above the majority label${metric.percent ? ', in points' : ''}`,
    ),
  )
  const says = names.map((name, i) => `${name} ${signed(mean(dots[i].map(d => d.x)))}`).join('; ')
  return element(
    'svg',
    {
      id: `by-${field}`,
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `Mean ${metric.title} above the majority label by ${field}: ${says}`,
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
  return [
    element(
      'section',
      { 'aria-labelledby': 'h-plots' },
      element('h2', { id: 'h-plots' }, 'By family and script'),
      element(
        'p',
        { class: 'soft' },
        'Each mark is the mean of a model over the languages of a group (their number in brackets); right of the dashed line it is above the majority label.',
      ),
      element('ul', { class: 'legend', id: 'legend' }, ...legend),
      ...there.flatMap(f => [element('h3', {}, FILTERS[f]), plot(found, f)]),
    ),
  ]
}

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
    const text = element('span', { class: 'name', title: node.above }, named, soft(narrow ? `${bibles.length}` : count(bibles.length, 'translation')))
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
    element(
      'section',
      { 'aria-labelledby': 'h-tree' },
      element('h2', { id: 'h-tree' }, 'Tree of languages'),
      element(
        'p',
        { class: 'soft' },
        `Families, their branches (Glottolog, CC BY 4.0) and languages, the largest family first: ${metric.title}, the mean of the results shown${metric.percent ? ' in percent' : ''}, and how far it is above the majority label. Branches with one branch in them are left out.`,
      ),
      scale(),
      element('ul', { class: 'tree', id: 'tree' }, ...roots.map(g => branch(g, 0))),
    ),
  ]
}

// The views

function languages(found) {
  // Languages by models
  const entries = unique(found.map(r => r.entry)).sort((a, b) => collator.compare(a.name, b.name))
  const items = [...grouped(found, r => r.bible)].map(([bible, rs]) => ({
    bible,
    tasks: unique(rs.map(r => r.task)).length,
    of: grouped(rs, r => r.entry),
  }))
  const columns = [
    { key: 'language', text: 'Language', value: x => x.bible.language, show: x => toLanguage(x.bible) },
    { key: 'family', text: 'Family', wide: true, value: x => x.bible.family },
    { key: 'script', text: 'Script', wide: true, value: x => x.bible.script },
    ...entries.map(e => ({
      key: e.name,
      text: short(e.name),
      number: true,
      value: x => (x.of.has(e) ? mean(x.of.get(e).map(score)) : null),
      tint: x => {
        const up = x.of.has(e)
          ? (mean(
              x.of
                .get(e)
                .map(over)
                .filter(y => y != null),
            ) ?? 0)
          : 0
        return `color-mix(in srgb, var(--mark) ${Math.max(0, Math.min(45, 150 * up)).toFixed(0)}%, var(--back))`
      },
      show: x =>
        x.of.has(e)
          ? [
              figure(mean(x.of.get(e).map(score))),
              x.of.get(e).length < x.tasks && soft(`${x.of.get(e).length} of ${x.tasks}`),
            ]
          : '–',
    })),
  ]
  const saved = [{ key: 'bible', value: x => x.bible.code }, ...columns]
  return [
    table('matrix', columns, items, {
      title: 'Languages by models',
      saved,
      sort: 'language',
      note: 'Mean of the metric over the tasks shown; a deeper colour means further above the majority label. If a model did not run on all tasks of a translation, their number is given.',
    }),
    ...map(found),
  ]
}
function families(found) {
  return [...tree(found), ...plots(found)]
}

function compare(found) {
  const entries = unique(found.map(r => r.entry)).sort((a, b) => collator.compare(a.name, b.name)),
    of = name => entries.find(e => e.name === name)
  const sets = new Map([...grouped(found, r => r.entry)].map(([e, rs]) => [e, new Set(rs.map(testSet))]))
  const shared = (e, o) => [...sets.get(e)].filter(t => sets.get(o).has(t)).length
  const most = of => entries.reduce((best, e) => (best && of(best) >= of(e) ? best : e), undefined)
  const a = of(state.a) ?? most(e => (e.name === state.b ? -1 : sets.get(e).size)),
    b = of(state.b) ?? most(e => (e === a ? -1 : shared(a, e))) // Those with most in common
  const choose = (key, value) =>
    element(
      'label',
      {},
      key === 'a' ? 'First model' : 'Second model',
      element(
        'select',
        {
          name: key,
          id: key,
          onchange: e => {
            change({ a: a?.name, b: b?.name, [key]: e.target.value })
            by(key).focus()
          },
        },
        ...entries.map(e => {
          const o = element('option', { value: e.name }, e.name)
          o.selected = e === value
          return o
        }),
      ),
    )
  const pick = element(
    'p',
    { class: 'pick' },
    choose('a', a),
    choose('b', b),
    element(
      'button',
      {
        type: 'button',
        onclick: () => {
          change({ a: b?.name, b: a?.name })
        },
      },
      'Exchange',
    ),
  )
  if (!a || !b || a === b) return [pick, element('p', {}, 'Choose two different models.')]
  const testSets = [...grouped(found, testSet).values()]
    .map(rs => [rs.find(r => r.entry === a), rs.find(r => r.entry === b)])
    .filter(([x, y]) => x && y)
  const items = testSets.map(([x, y]) => ({
    x,
    y,
    difference: (metric.less ? -1 : 1) * (score(x) - score(y)),
    ...test(x, y),
  }))
  holm(items.map(t => t.p ?? null)).forEach((p, i) => {
    items[i].corrected = p
  })
  const clear = side => items.filter(t => t.corrected != null && t.corrected < 0.05 && side * t.difference > 0).length,
    tested = items.filter(t => t.p != null).length,
    few = items.some(t => Math.min(t.x.seeds, t.y.seeds) < 3)
  const all = pairOver(found, a, b),
    larger = Math.max(
      0.02,
      ...items.map(t => Math.max(Math.abs(t.high ?? t.difference), Math.abs(t.low ?? t.difference))),
    ),
    at = x => 60 + (58 * x) / larger
  const bar = t =>
    element(
      'svg',
      { class: 'bar', width: 120, height: 14, viewBox: '0 0 120 14', 'aria-hidden': 'true' },
      element('line', { x1: 60, x2: 60, y1: 0, y2: 14, class: 'zero' }),
      ...(t.low == null
        ? []
        : [
            element('rect', {
              x: at(t.low),
              y: 5,
              width: at(t.high) - at(t.low),
              height: 4,
              fill: 'var(--mark)',
              opacity: 0.45,
            }),
          ]),
      element('circle', { cx: at(t.difference), cy: 7, r: 3, fill: 'var(--mark)' }),
    )
  const columns = [
    { key: 'language', text: 'Language', value: t => t.x.bible.language, show: t => toLanguage(t.x.bible) },
    { key: 'task', text: 'Task', value: t => t.x.task.name },
    { key: 'first', text: a.name, number: true, value: t => score(t.x), show: t => toResult(t.x, figure(score(t.x))) },
    { key: 'second', text: b.name, number: true, value: t => score(t.y), show: t => toResult(t.y, figure(score(t.y))) },
    { key: 'difference', text: 'Difference', number: true, value: t => t.difference, show: t => signed(t.difference) },
    {
      key: 'low',
      text: '95 % interval',
      number: true,
      wide: true,
      value: t => t.low,
      show: t => [t.low == null ? '–' : `${signed(t.low)} to ${signed(t.high)}`, bar(t)],
    },
    { key: 'p', text: 'p', number: true, value: t => t.p, show: t => pValue(t.p) },
    {
      key: 'p_corrected',
      text: 'p corrected',
      number: true,
      value: t => t.corrected,
      show: t => pValue(t.corrected),
      best: t => t.corrected != null && t.corrected < 0.05,
    },
  ]
  const place = c => ['language', 'task', 'difference', 'p_corrected'].indexOf(c.key) + 1 || 9 // A phone shows the difference first
  const saved = [
    { key: 'first_model', value: () => a.name },
    { key: 'second_model', value: () => b.name },
    { key: 'bible', value: t => t.x.bible.code },
    ...columns.flatMap(c => (c.key === 'low' ? [c, { key: 'high', value: t => t.high }] : [c])),
  ]
  const verdict = tested
    ? `Clearly better (5 %, corrected for the ${count(tested, 'test')} shown): ${a.name} on ${clear(1)}, ${b.name} on ${clear(-1)}; not told apart on ${tested - clear(1) - clear(-1)}.`
    : items.length
      ? few
        ? 'These results are not tested: a model that was trained with fewer than three seeds may score otherwise with another seed.'
        : 'These results are not tested.'
      : 'No test set has both models.'
  const whole = all
    ? ` Over ${count(all.n, 'test set')} together the mean difference is ${signed(all.difference)} (p\u00a0${pValue(all.p).replace(/^0/, '= 0').replace(' ', '\u00a0')}).`
    : ''
  return [
    element('h2', {}, 'Compare two models'),
    pick,
    element(
      'p',
      { id: 'verdict' },
      verdict +
        whole +
        (few && tested ? ' Where a model has fewer than three seeds, another seed may give another result.' : ''),
    ),
    table('compare', narrow ? [...columns].sort((c, d) => place(c) - place(d)) : columns, items, {
      title: `${a.name} and ${b.name}`,
      saved,
      sort: '-difference',
      note: 'A positive difference means that the first is better. Paired permutation tests over chapters, with the spread of the seeds; "p corrected" by Holm for the rows shown.',
    }),
  ]
}
function test(x, y) {
  // Of two results on one test set
  const T = D.tests[metric.key],
    k = T?.at.get(`${x.i},${y.i}`) ?? T?.at.get(`${y.i},${x.i}`)
  if (k == null) return {}
  const ends = [T.low[k], T.high[k]].map(e => (e == null ? null : e / 1e4)),
    swapped = T.first[k] !== x.i
  return {
    p: T.p[k],
    low: swapped && ends[1] != null ? -ends[1] : ends[0],
    high: swapped && ends[0] != null ? -ends[0] : ends[1],
  }
}
function pairOver(found, a, b) {
  // Over several test sets
  const p = (D.pairs.get(scopeOf(found)) ?? []).find(
    p => [p.first, p.second].includes(a.name) && [p.first, p.second].includes(b.name) && p.n > 1,
  )
  return p && { ...p, difference: p.difference * (p.first === a.name ? 1 : -1) * (metric.less ? -1 : 1) }
}

const facts = pairs =>
  element(
    'dl',
    {},
    ...pairs
      .filter(([, v]) => v != null && v !== '')
      .flatMap(([k, v]) => [element('dt', {}, k), element('dd', {}, ...[v].flat())]),
  )
function model(found) {
  // A page of its own for each model
  const mine = found,
    entry = D.entries.find(e => e.name === state.of)
  if (!entry) return [element('p', {}, `No model ${state.of} in this report.`)]
  const tasks = unique(mine.map(r => r.task)).sort((a, b) => a.order - b.order)
  const items = [...grouped(mine, r => r.bible)].map(([bible, rs]) => ({
    bible,
    tier: rs[0].tier,
    of: new Map(rs.map(r => [r.task, r])),
    gain: mean(rs.map(gain).filter(x => x != null)),
  }))
  const columns = [
    { key: 'language', text: 'Language', value: x => x.bible.language, show: x => toLanguage(x.bible) },
    { key: 'family', text: 'Family', wide: true, value: x => x.bible.family },
    items.some(x => x.tier) && { key: 'tier', text: FILTERS.tier, wide: true, value: x => x.tier || null },
    ...tasks.map(t => ({
      key: t.name,
      text: t.name,
      number: true,
      title: t.question,
      value: x => (x.of.has(t) ? score(x.of.get(t)) : null),
      show: x =>
        x.of.has(t)
          ? [
              toResult(x.of.get(t), figure(score(x.of.get(t)))),
              above(x.of.get(t)) === false && element('span', { class: 'flag' }, '§'),
            ]
          : '–',
    })),
    {
      key: 'gain',
      text: 'Over baseline',
      number: true,
      title: 'Mean over the tasks',
      value: x => x.gain,
      show: x => signed(x.gain),
    },
  ]
  return [
    element('h2', {}, ...breakable(entry.name)),
    facts([
      ['Protocol', board().protocol],
      ['Data', board().title],
      ['Results', `${mine.length} on ${count(items.length, 'translation')}`],
      ['', [link({ view: 'compare', a: entry.name, b: '', of: '' }, 'Compare it with another model')]],
    ]),
    table('model', columns, items, {
      title: 'Languages by tasks',
      sort: '-gain',
      note: `${metric.title}${metric.percent ? ' in percent' : ''}; § says that a test does not find the model above the best baseline.`,
    }),
    ...map(mine),
  ]
}
function language(found) {
  // A page of its own for each translation
  const b = D.bibles.find(b => b.code === state.of),
    mine = found
  if (!b) return [element('p', {}, `No translation ${state.of} in this report.`)]
  const [lat, lon] = b.place ?? [],
    others = D.bibles.filter(o => o !== b && o.language === b.language)
  return [
    element('h2', {}, b.language),
    facts([
      ['Translation', b.code],
      ['Family', b.family],
      ['Script', b.script],
      ['Place', b.place && `${Math.abs(lat)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon)}° ${lon < 0 ? 'W' : 'E'}`],
      [
        'Other translations',
        others.length
          ? others.flatMap((o, i) => [i ? ', ' : '', link({ view: 'language', of: o.code }, o.code)])
          : null,
      ],
    ]),
    ranking(mine, 'Models by tasks'),
    results(mine, 'Results', ['language']),
  ]
}
function result(found) {
  // A page of its own for each result
  const r = rows.find(r => r.id === state.of)
  if (!r) return [element('p', {}, `No result ${state.of} in this report.`)]
  const scores = D.metrics.filter(m => D.scores[m.key].score[r.i] != null),
    of = (m, k) => get(r, k, D.scores[m.key])
  const columns = [
    { key: 'metric', text: 'Metric', value: m => m.title },
    { key: 'score', text: 'Score', number: true, value: m => of(m, 'score'), show: m => figure(of(m, 'score'), m) },
    {
      key: 'low',
      text: '95 % interval',
      number: true,
      value: m => of(m, 'low'),
      show: m => (of(m, 'low') == null ? '–' : `${figure(of(m, 'low'), m)}–${figure(of(m, 'high'), m)}`),
    },
    {
      key: 'seeds',
      text: 'Seeds from–to',
      number: true,
      wide: true,
      value: m => of(m, 'seed_low'),
      show: m => `${figure(of(m, 'seed_low'), m)}–${figure(of(m, 'seed_high'), m)}`,
    },
    {
      key: 'majority',
      text: 'Majority',
      number: true,
      value: m => of(m, 'majority'),
      show: m => figure(of(m, 'majority'), m),
    },
    {
      key: 'gain',
      text: 'Over baseline',
      number: true,
      value: m => of(m, 'gain'),
      show: m => signed(of(m, 'gain'), m),
    },
    { key: 'baseline', text: 'Best baseline', wide: true, value: m => D.scores[m.key].baseline[r.i] },
  ]
  const others = rows
    .filter(o => o !== r && o.board === r.board && o.bible === r.bible && o.task === r.task && test(r, o).p != null)
    .map(o => ({ o, ...test(r, o), difference: (metric.less ? -1 : 1) * (score(r) - score(o)) }))
  const tests = [
    { key: 'model', text: 'Model', value: t => t.o.entry.name, show: t => toModel(t.o.entry) },
    { key: 'setting', text: 'Setting', wide: true, wrap: true, value: t => t.o.setting },
    {
      key: 'score',
      text: metric.title,
      number: true,
      value: t => score(t.o),
      show: t => toResult(t.o, figure(score(t.o))),
    },
    {
      key: 'difference',
      text: 'This result minus it',
      number: true,
      value: t => t.difference,
      show: t => signed(t.difference),
    },
    { key: 'p', text: 'p', number: true, value: t => t.p, show: t => pValue(t.p) },
  ]
  const files = r.runs.map(name =>
    element(
      'li',
      {},
      element('a', { href: `${r.folder}/${name}` }, decodeURIComponent(name)),
      soft(decodeURIComponent(`${r.folder}/${name}`)),
    ),
  )
  return [
    element('h2', {}, `${r.task.name}, ${r.bible.language}`),
    facts([
      ['Model', [toModel(r.entry)]],
      ['Language', [toLanguage(r.bible)]],
      ['Task', `${r.task.name}${r.task.question ? `: ${r.task.question}` : ''}`],
      ['Protocol', r.board.protocol],
      ['Data', r.board.title],
      ['Setting', r.setting],
      ['Test items', r.items?.toLocaleString('en')],
      ['Dataset', r.dataset],
      ['Seen in pretraining', r.tier],
      ['Collapsed', r.collapsed ? 'gave the same answer to everything with at least one seed' : ''],
    ]),
    table('scores', columns, scores, { title: 'Scores' }),
    others.length &&
      table('tests', tests, others, {
        title: 'Against the others on this test set',
        sort: '-difference',
        note: 'Paired permutation tests over chapters and seeds, each by itself.',
      }),
    element('h2', {}, 'Records'),
    element(
      'p',
      { class: 'soft' },
      'These files belong to the run store. The links work where the page lies where it was written; elsewhere the names tell which records to ask for.',
    ),
    element('ul', { id: 'records' }, ...files),
  ]
}

const DRAWN = {
  overview: found => [ranking(found, 'Models by tasks'), ...map(found)],
  languages,
  families,
  results: found => [results(found)],
  compare,
  model,
  language,
  result,
}

// Choosing and drawing

const board = () => {
  const protocol =
    state.protocol && D.boards.some(b => b.protocol === state.protocol) ? state.protocol : D.boards[0]?.protocol
  const there = D.boards.filter(b => b.protocol === protocol)
  return there.find(b => b.title === state.data) ?? there[0]
}
const FIELDS = {
  task: r => r.task.name,
  language: r => r.bible.code,
  family: r => r.bible.family,
  script: r => r.bible.script,
  tier: r => r.tier || 'not known',
  model: r => r.entry.name,
}
function chosen() {
  const words = (state.q ?? '').toLowerCase().split(/\s+/).filter(Boolean),
    on = Object.keys(FIELDS).filter(k => state[k]),
    here = board()
  return rows.filter(
    r =>
      r.board === here &&
      S.score[r.i] != null &&
      (r.main || ['results', 'language'].includes(state.view)) &&
      (state.view !== 'model' || r.entry.name === state.of) &&
      (state.view !== 'language' || r.bible.code === state.of) &&
      on.every(k => FIELDS[k](r) === state[k]) &&
      (!words.length ||
        words.every(w =>
          [r.entry.name, r.bible.language, r.bible.code, r.bible.family, r.bible.script, r.task.name, r.setting]
            .join(' ')
            .toLowerCase()
            .includes(w),
        )),
  )
}
function options(key) {
  const here = board(),
    texts = new Map()
  if (key === 'protocol') return unique(D.boards.map(b => b.protocol)).map(p => [p, p])
  if (key === 'data') return D.boards.filter(b => b.protocol === here?.protocol).map(b => [b.title, b.title])
  if (key === 'metric') return D.metrics.map(m => [m.key, m.title])
  for (const r of rows)
    if (r.board === here)
      texts.set(
        FIELDS[key](r),
        key === 'language' && r.bible.language !== r.bible.code
          ? `${r.bible.language} (${r.bible.code})`
          : FIELDS[key](r),
      )
  if (state[key] && !texts.has(state[key])) texts.set(state[key], state[key])
  return [['', 'all'], ...[...texts].sort((a, b) => collator.compare(a[1], b[1]))]
}
let drawnFor // The board whose options the filters have
function drawFilters() {
  const here = board(),
    fields = document.querySelector('.fields')
  if (drawnFor !== here || !fields.querySelector('select')) {
    drawnFor = here
    for (const old of fields.querySelectorAll('select')) old.parentElement.remove()
    for (const key of Object.keys(FILTERS)) {
      const found = options(key),
        real = found.filter(([v]) => v)
      const label = element(
        'label',
        {},
        FILTERS[key],
        element('select', { name: key }, ...found.map(([v, text]) => element('option', { value: v }, text))),
      )
      label.hidden = (real.length < 2 && !state[key]) || (key === 'tier' && real.every(([v]) => v === 'not known'))
      if (!label.hidden || key === 'metric') fields.append(label)
    }
  }
  const current = { ...state, protocol: here?.protocol, data: here?.title, metric: metric?.key }
  for (const e of fields.querySelectorAll('select, input'))
    if (e !== document.activeElement || e.tagName === 'SELECT') e.value = current[e.name] ?? ''
  const active = Object.keys(FILTERS)
    .filter(k => state[k])
    .map(k => `${FILTERS[k].toLowerCase()} ${k === 'metric' ? metric.title : state[k]}`)
    .concat(state.q ? [`"${state.q}"`] : [])
  by('active').textContent = active.length ? `: ${active.join(', ')}` : ''
}

function hiddenResults() {
  // What the chosen protocol and data leave out
  const here = board(),
    others = D.boards.filter(b => b !== here && b.size)
  if (!others.length) return []
  const name = b => (b.protocol === here.protocol ? b.title : b.protocol)
  const linked = [...grouped(others, name)].map(([text, [b, ...more]]) => [
    link({ protocol: b.protocol, data: b.title, of: '', view: 'overview' }, text),
    ` (${[b, ...more].reduce((n, o) => n + o.size, 0).toLocaleString('en')})`,
  ])
  const shown = `Shown: ${here.protocol}, ${here.title}. Not shown, as protocol or data differ: `
  return [shown, ...linked.flatMap((parts, i) => (i ? ['; ', ...parts] : parts)), '.']
}

function draw() {
  metric = D.metrics.find(m => m.key === state.metric) ?? D.metrics[0]
  S = D.scores[metric?.key]
  by('views').replaceChildren(
    ...Object.entries(VIEWS).map(([view, text]) =>
      element(
        'a',
        { href: address({ view, of: '', sort: '' }), ...(view === state.view ? { 'aria-current': 'page' } : {}) },
        text,
      ),
    ),
  )
  if (!rows.length) return
  drawFilters()
  const found = chosen(),
    of = key => unique(found.map(key)).length
  by('count').hidden = state.view === 'result'
  by('count').textContent = `${count(found.length, 'result')}: ${count(
    of(r => r.entry),
    'model',
  )}, ${count(
    of(r => r.bible),
    'translation',
  )}, ${count(
    of(r => r.task),
    'task',
  )}${D.untested ? `. Not tested against each other, as there are ${count(D.untested, 'pair')} of results; see pronto report --most-tests` : ''}`
  by('hidden').hidden = by('count').hidden
  by('hidden').replaceChildren(...hiddenResults())
  fit(found)
  const drawn =
    found.length || state.view === 'result'
      ? (DRAWN[state.view] ?? DRAWN.overview)(found)
      : [element('p', {}, 'Nothing to show; clear some filters.')]
  by('main').replaceChildren(...drawn.filter(e => e instanceof Node))
  document.title = `${by('main').querySelector('h2')?.textContent ?? 'Nothing'} – PrOnto report`
}

function unpack() {
  // Columns to rows that refer to models, translations and tasks
  const { names, columns: C } = D,
    folders = names.folder
  D.boards = names.board.map(([protocol, source, splits, rules, limited]) => ({
    protocol,
    size: 0,
    title: [
      source || 'source not recorded',
      `${splits || 'unknown'} splits`,
      ...(['', 'paper'].includes(rules) ? [] : [`rules ${rules}`]),
      limited && 'limited examples',
    ]
      .filter(Boolean)
      .join(', '),
  }))
  D.entries = names.entry.map(([model, variant]) => ({
    model,
    variant,
    name: variant ? `${model} (${variant})` : model,
  }))
  ;[...D.entries]
    .sort((a, b) => collator.compare(a.name, b.name))
    .forEach((e, i) => {
      e.place = i
    })
  rows = C.entry.map((entry, i) => {
    const runs = C.runs[i].split(' ')
    return {
      i,
      id: runs[0].replace(/\.json$/, ''),
      board: D.boards[C.board[i]],
      entry: D.entries[entry],
      bible: D.bibles[C.bible[i]],
      task: D.tasks[C.task[i]],
      tier: names.tier[C.tier[i]],
      setting: names.setting[C.setting[i]],
      dataset: names.dataset[C.dataset[i]],
      folder: folders[C.folder[i]],
      runs,
      seeds: C.seeds[i],
      limit: C.limit[i],
      items: C.items[i],
      collapsed: C.collapsed[i] === 1,
      main: C.shown[i] === 1,
    }
  })
  for (const r of rows) r.board.size++
  for (const T of Object.values(D.tests)) T.at = new Map(T.first.map((first, k) => [`${first},${T.second[k]}`, k]))
  D.boards.forEach((b, i) => {
    b.i = i
  })
  D.bibles.forEach((b, i) => {
    b.i = i
  })
  const areas = D.over.areas.map(area => [...area].sort((a, b) => a - b).join())
  for (const kind of ['groups', 'pairs']) {
    const columns = Object.entries(D.over[kind]),
      n = columns[0]?.[1].length ?? 0
    const all = Array.from({ length: n }, (_, i) => Object.fromEntries(columns.map(([k, xs]) => [k, xs[i]])))
    D[kind] = grouped(all, x => [x.board, D.over.metrics[x.metric], areas[x.area], x.task].join('|'))
  }
  const weight = b => (b.protocol === 'in-language' ? 1e9 : 0) + b.size
  D.boards.sort((a, b) => weight(b) - weight(a)) // The first is shown unless another is chosen
}

async function read() {
  const e = by('data')
  if (e.type === 'application/json') return JSON.parse(e.textContent)
  const binary = atob(e.textContent)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text())
}

function keep() {
  // The page as a file that opens with this view
  const copy = document.documentElement.cloneNode(true)
  for (const id of ['main', 'views', 'about', 'count', 'hidden', 'active', 'version'])
    copy.querySelector(`#${id}`).replaceChildren()
  for (const select of copy.querySelectorAll('.fields select')) select.parentElement.remove()
  copy.dataset.view = address().slice(1)
  save(`<!doctype html>\n${copy.outerHTML}\n`, 'pronto-report.html', 'text/html')
}

let waiting
const later = work => {
  clearTimeout(waiting)
  waiting = setTimeout(work, 150)
}
function start(data) {
  D = data
  unpack()
  readAddress()
  const form = by('filters')
  by('panel').open = !narrow
  form.addEventListener('input', e => {
    const set = () => change({ [e.target.name]: e.target.value, ...(e.target.name === 'protocol' ? { data: '' } : {}) })
    e.target.name === 'q' ? later(set) : set()
  })
  form.addEventListener('submit', e => e.preventDefault())
  form.addEventListener('reset', () =>
    setTimeout(() => change(Object.fromEntries([...Object.keys(FILTERS), 'q', 'sort'].map(k => [k, ''])))),
  ) // After the fields are empty
  by('keep').addEventListener('click', keep)
  by('skip').addEventListener('click', e => {
    e.preventDefault()
    by('main').focus()
  })
  addEventListener('resize', () =>
    later(() => {
      if (state.view === 'families') draw()
    }),
  )
  addEventListener('hashchange', () => {
    const before = state.view + state.of
    readAddress()
    more = {}
    draw()
    if (before !== state.view + state.of) {
      scrollTo(0, 0)
      by('main').focus({ preventScroll: true })
    }
  })
  by('version').textContent = `Made by PrOnto ${D.version}.`
  by('about').textContent = rows.length
    ? `Scores of ${count(unique(rows.map(r => r.entry.model)).length, 'model')} on ${count(D.bibles.length, 'translation')} of the Bible.`
    : 'No runs have been recorded yet; make some with pronto eval.'
  form.hidden = by('views').hidden = !rows.length
  draw()
  document.documentElement.dataset.ready = 'yes'
}
read().then(start)
