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
      ['Parameters', entry.parameters && size(entry.parameters)],
      ['On the Hub', entry.link && hub(entry, entry.model)],
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
function numbers(bible) {
  // Who reads a language: a table for each protocol, as models are compared on equal rows
  const of = D.boards.filter(b => b.first).map(b => [b, rows.filter(r => r.board === b && r.bible === bible)])
  return of
    .filter(([, mine]) => mine.length)
    .map(([b, mine]) =>
      table(`numbers${b.i}`, columnsFor(b, 'language'), mine, {
        title: `Who reads it, by ${b.protocol}`,
        finding: `To beat: ${figure(score(mine[0]) - gain(mine[0]))}, by n-grams that have read all of the training verses of this text. Asked about ${count(mine[0].items, 'row')}.`,
        note: 'From 0 for guessing to 100 for all right, with a 95 % interval over chapters; and over how many verses of this text n-grams must go to do as well.',
        saved: SAVED,
        sort: '-score',
      }),
    )
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
      ...b.about,
      ['Your model', [element('code', {}, `pronto card BIBLE -m MODEL --language ${b.iso639_3 || b.code}`)]],
    ]),
    ...(board().first ? numbers(b) : [ranking(mine, 'Models by tasks'), results(mine, 'language')]),
  ]
}
const records = files => [
  element('h2', {}, 'Records'),
  element(
    'p',
    { class: 'soft' },
    'These files belong to the run store. The links work where the page lies where it was written; elsewhere the names tell which records to ask for.',
  ),
  element('ul', { id: 'records' }, ...files),
]
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
      [FILTERS.tier, r.tier],
      ['Verses that n-grams need', r.reading],
      ['Collapsed', r.collapsed ? 'learned nothing, or gave the same answer to everything, with at least one seed' : ''],
    ]),
    table('scores', columns, scores, { title: 'Scores' }),
    others.length &&
      table('tests', tests, others, {
        title: 'Against the others on this test set',
        sort: '-difference',
        note: 'Paired permutation tests over chapters and seeds, each by itself.',
      }),
    ...(r.runs[0] ? records(files) : []),
  ]
}

const DRAWN = {
  overview: found => [ranking(found, 'Models by tasks'), ...map(found)],
  languages,
  families: found => [...tree(found), ...plots(found)],
  results: found => [results(found)],
  compare,
  model,
  language,
  result,
}
