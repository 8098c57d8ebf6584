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
          [r.entry.name, r.bible.language, r.bible.code, r.bible.family, ...r.bible.groups, r.bible.script, r.task.name, r.setting]
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

function ownMetric() {
  // By which the tasks shown are judged, if it is the same
  const here = board(),
    of = r => r.board === here && (!state.task || r.task.name === state.task),
    one = r => (state.view === 'result' ? r.id === state.of : of(r)),
    own = unique(rows.filter(one).map(r => r.task.metric))
  return own.length === 1 ? own[0] : ''
}

// Without results there are only questions, and without questions there is no view of them
const views = () => Object.keys(VIEWS).filter(v => (v === 'questions' ? by(v).children.length : rows.length))

function draw() {
  const asked = state.view === 'questions' || !rows.length
  metric = D.metrics.find(m => m.key === (state.metric || ownMetric())) ?? D.metrics[0]
  S = D.scores[metric?.key]
  by('views').replaceChildren(
    ...views().map(view =>
      element(
        'a',
        { href: address({ view, of: '', sort: '' }), ...(view === state.view ? { 'aria-current': 'page' } : {}) },
        VIEWS[view],
      ),
    ),
  )
  by('questions').hidden = !asked
  for (const id of ['filters', 'main', 'count', 'hidden']) by(id).hidden = asked
  document.title = 'Questions – PrOnto report'
  if (asked) return
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
    first: splits == null, // Numbers of languages
    title: [
      source || 'source not recorded',
      splits != null && `${splits || 'unknown'} splits`,
      ...(['', 'paper'].includes(rules) ? [] : [`rules ${rules}`]),
      limited && 'limited examples',
    ]
      .filter(Boolean)
      .join(', '),
  }))
  D.entries = names.entry.map(([model, variant]) => ({
    model,
    variant,
    ...D.models[model],
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
      id: runs[0].replace(/\.json$/, '') || `${i}`, // A table of numbers has no records
      board: D.boards[C.board[i]],
      entry: D.entries[entry],
      bible: D.bibles[C.bible[i]],
      task: D.tasks[C.task[i]],
      tier: names.tier[C.tier[i]],
      reading: names.reading[C.reading[i]],
      setting: names.setting[C.setting[i]],
      dataset: names.dataset[C.dataset[i]],
      folder: folders[C.folder[i]],
      runs,
      seeds: C.seeds[i],
      fewSeeds: C.few_seeds[i] === 1,
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
  const weight = b => b.first * 1e9 + b.size + (b.protocol === 'in-language') / 2
  D.boards.sort((a, b) => weight(b) - weight(a)) // The first has most results, and is shown unless another is chosen
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
    by(by('main').hidden ? 'questions' : 'main').focus()
  })
  addEventListener('resize', () =>
    later(() => {
      if (state.view === 'families') draw()
    }),
  )
  addEventListener('hashchange', () => {
    const before = state.view + state.of
    readAddress()
    draw()
    if (before !== state.view + state.of) {
      scrollTo(0, 0)
      by('main').focus({ preventScroll: true })
    }
  })
  by('version').textContent = `Made by PrOnto ${D.version}.`
  by('about').textContent = rows.length
    ? `Scores of ${count(unique(rows.map(r => r.entry.model)).length, 'model')} on ${count(D.bibles.length, 'translation')} of the Bible.`
    : views().length
      ? 'No run has a score; what questions find is below.'
      : 'No runs have been recorded yet; make some with pronto eval.'
  by('views').hidden = !views().length
  draw()
  document.documentElement.dataset.ready = 'yes'
}
read().then(start)
