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
