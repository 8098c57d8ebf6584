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
              { class: 'flag', title: 'learned nothing, or gave the same answer to everything, with at least one seed' },
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
    show: r => [
      get(r, 'low') == null ? '–' : `${figure(get(r, 'low'))} to ${figure(get(r, 'high'))} `,
      !narrow && interval(r),
    ],
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
  { key: 'reading', text: 'Verses that n-grams need', wrap: true, value: r => r.reading || 'not known' },
  { key: 'tier', text: FILTERS.tier, wide: true, value: r => r.tier || 'not known' },
  { key: 'setting', text: 'Setting', wide: true, wrap: true, value: r => r.setting },
]
const OF_NUMBERS = ['model', 'language', 'score', 'low', 'reading', 'tier'] // What a table of numbers says, also on a phone
function columnsFor(b, without) {
  const columns = b?.first ? OF_NUMBERS.map(key => ({ ...COLUMNS.find(c => c.key === key), wide: false })) : COLUMNS
  return columns.filter(c => c.key !== without)
}
const measured = key => [key, r => get(r, key)]
const noted = key => [key, r => S[key][r.i]]
const SAVED = [
  ['model', r => r.entry.model],
  ['variant', r => r.entry.variant],
  ['language', r => r.bible.language],
  ['bible', r => r.bible.code],
  ['family', r => r.bible.family],
  ['script', r => r.bible.script],
  ['task', r => r.task.name],
  ['metric', () => metric.key],
  ...['score', 'low', 'high', 'gain'].map(measured),
  ...['baseline', 'above', 'rank', 'tied'].map(noted),
  measured('majority'),
  ['seeds', r => r.seeds],
  ...['seed_low', 'seed_high'].map(measured),
  ['collapsed', r => r.collapsed],
  ['items', r => r.items],
  ['limit', r => r.limit],
  ['protocol', r => r.board.protocol],
  ['setting', r => r.setting],
].map(([key, value]) => ({ key, value }))
const results = (found, without) =>
  table(
    'results',
    columnsFor(board(), without),
    found,
    {
      title: 'Results',
      saved: SAVED,
      sort: '-gain',
      note: 'The mean over test items and seeds, with a 95 % interval over chapters and seeds. The baseline is the best on the same test set (majority label, look-up, character n-grams, nearest verse); § says that a test does not find the model above it (5 %, each row by itself). A score leads to its details and records.',
    },
  )
