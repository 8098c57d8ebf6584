// Ranks: by tests on one test set, by scores over several

const ranksOfTestSet = found => new Map(found.map(r => [r.entry.name, { rank: S.rank[r.i], tied: S.tied[r.i] }]))
const ranked = x => (x?.rank == null ? '–' : x.tied ? `${x.rank} =` : `${x.rank}`)
const MIXED =
  ' The number of test sets is given where a model did not run on all of them: its mean is of those, and so are the baselines that it is compared with.'
const RANKS =
  'On one test set a rank is one more than the number of models that are clearly better by tests over chapters and seeds (5 %, corrected by Holm), and models that the tests do not tell apart share it ("="). Over several test sets, and with fewer than three seeds, it is "untested": from the scores alone, on the test sets that both ran on ("of 3": so many models have test sets in common).'

function ranksByScore(items) {
  // One more than the number of models that score higher on the test sets that both ran on, and of how many; models that ran on the same are together
  const patterns = [...grouped(items, x => [...x.on.keys()].sort().join('\t')).values()],
    averages = (xs, sets) => xs.map(x => mean(sets.map(t => x.on.get(t)))),
    found = new Map()
  for (const mine of patterns) {
    const higher = mine.map(() => 0),
      others = patterns.map(theirs => [theirs, [...mine[0].on.keys()].filter(t => theirs[0].on.has(t))])
    const met = others.filter(([theirs, common]) => common.length && (theirs !== mine || mine.length > 1))
    for (const [theirs, common] of met) {
      const scores = averages(theirs, common)
      averages(mine, common).forEach((own, i) => {
        higher[i] += scores.filter(x => (metric.less ? x < own : x > own)).length
      })
    }
    const compared = met.reduce((n, [theirs]) => n + theirs.length, 0) + (met.some(([theirs]) => theirs === mine) ? 0 : 1)
    mine.forEach((x, i) => found.set(x, { rank: met.length ? 1 + higher[i] : null, compared }))
  }
  return found
}

function ranking(found, title) {
  // Models by tasks
  const tasks = unique(found.map(r => r.task)).sort((a, b) => a.order - b.order)
  const alone = tasks.length === 1 && unique(found.map(r => r.bible)).length === 1,
    place = alone ? ranksOfTestSet(found) : new Map(),
    value = alone ? get : onCommonRows,
    scoreOf = r => value(r, 'score'),
    gainOf = r => value(r, 'gain'),
    baselineOf = r => (gainOf(r) == null ? null : scoreOf(r) + (metric.less ? 1 : -1) * gainOf(r))
  const onRows = alone ? '' : (D.notes[board().i] ?? ''),
    fewer = !alone && found.some(r => S.common_score?.[r.i] != null)
  const total = new Map([...grouped(found, r => r.task)].map(([t, rs]) => [t, unique(rs.map(r => r.bible)).length]))
  const average = (rs, of) => {
    // Per task, and over tasks
    const byTask = grouped(rs, r => r.task)
    const cells = new Map(
      tasks.map(t => {
        const xs = (byTask.get(t) ?? []).map(of).filter(x => x != null)
        return [t, { mean: mean(xs), n: xs.length }]
      }),
    )
    return { cells, mean: mean(tasks.map(t => cells.get(t).mean).filter(x => x != null)) }
  }
  const items = [...grouped(found, r => r.entry)].map(([entry, rs]) => ({
    entry,
    ...average(rs, scoreOf),
    ...place.get(entry.name),
    base: average(rs, baselineOf),
    over: average(rs, gainOf).mean,
    on: new Map(rs.map(r => [testSet(r), scoreOf(r)])),
    beat: rs.filter(above).length,
    of: rs.filter(r => above(r) != null).length,
  }))
  const testSets = [...grouped(found, testSet).values()].map(rs => rs[0])
  const references = [
    [metric.zero ?? 'majority label', r => value(r, 'majority')],
    ['best baseline', baselineOf],
  ]
    .map(([name, of]) => ({ reference: true, entry: { name }, ...average(testSets, of) }))
    .filter(x => tasks.some(t => x.cells.get(t).n))
  const byScore = ranksByScore(items),
    tested = items.some(x => x.rank != null)
  for (const x of items) if (x.rank == null) Object.assign(x, byScore.get(x), { tied: false, untested: true })
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
    partly = items.some(x => x.on.size < testSets.length),
    leaders = items.filter(x => x.rank === 1).sort((x, y) => inOrder(x.over, y.over, true))
  const gain = x => (x.over < 0 ? `${figure(-x.over)} below the best baseline` : `${signed(x.over)} over the best baseline`)
  const leader = (x, i) =>
    [
      `${x.entry.name} ${figure(x.mean)}`,
      x.over != null && (i ? signed(x.over) : gain(x)),
      partly && `on ${x.on.size}${i ? '' : ` of ${testSets.length} test sets`}`,
    ]
      .filter(Boolean)
      .join(', ')
  const isBelow = items.length && items.every(x => x.over != null && x.over <= 0 && !x.beat)
  const finding =
    leaders.length &&
    `${isBelow ? 'No model is above the best baseline. ' : ''}${tested ? 'First' : 'Highest score'}: ${leaders.slice(0, 3).map(leader).join('; ')}${leaders.length > 3 ? `; and ${leaders.length - 3} more` : ''}.` +
      (tested ? '' : ' Ranks are untested: they are from the scores alone.') +
      (fewer ? ` ${onRows}` : '')
  const ofTasks = tasks.map(t => ({
    key: t.name,
    text: t.name,
    number: true,
    title: t.question,
    value: x => x.cells.get(t).mean,
    tint: x => (x.cells.get(t).n ? bar(x.cells.get(t).mean, x.base?.cells.get(t).mean) : ''),
    best: x => !x.reference && x.cells.get(t).n === total.get(t) && x.cells.get(t).mean === tops.get(t),
    show: x => [
      figure(x.cells.get(t).mean),
      x.cells.get(t).n && x.cells.get(t).n < total.get(t) && soft(`${x.cells.get(t).n} of ${total.get(t)}`),
    ],
  }))
  const over = {
    key: 'over',
    text: 'Over baseline',
    number: true,
    title: 'Mean difference to the best baseline of each test set',
    value: x => x.over,
    show: x => (x.reference ? '' : signed(x.over)),
  }
  const columns = [
    {
      key: 'model',
      text: 'Model',
      value: x => x.entry.name,
      show: x =>
        x.reference ? x.entry.name : [toModel(x.entry), x.entry.parameters && soft(size(x.entry.parameters)), ...hub(x.entry, '↗')],
    },
    items.some(x => x.rank != null) && {
      key: 'rank',
      text: 'Rank',
      number: true,
      value: x => x.rank,
      show: x => [
        x.reference ? '' : ranked(x),
        x.compared < items.length && soft(`of ${x.compared}`),
        x.rank != null && x.untested && soft('untested'),
      ],
    },
    tasks.length > 1 && {
      key: 'mean',
      text: 'Mean',
      number: true,
      title: 'Mean over the tasks; a tick on the bar is the best baseline on the same test sets',
      value: x => x.mean,
      tint: x => bar(x.mean, x.base?.mean),
      show: x =>
        x.reference
          ? figure(x.mean)
          : [element('strong', {}, figure(x.mean)), partly && soft(`${x.on.size} of ${testSets.length}`)],
    },
    ...(tasks.length > 1 ? [over, ...ofTasks] : [...ofTasks, over]),
    items.some(x => x.of) && {
      key: 'above',
      text: 'Above baselines',
      number: true,
      title: 'On how many test sets the model is clearly better than the best baseline',
      value: x => (x.of ? x.beat / x.of : null),
      show: x => (x.of ? `${x.beat} of ${x.of}` : ''),
    },
  ]
  const note = `${metric.title}${metric.percent ? ' in percent' : ''}, the mean over ${unique(found.map(r => r.bible)).length > 1 ? 'translations' : 'test items and seeds'}; the best of each task is bold, of the models that ran on all its test sets. The tick on a bar is the best baseline on the same test sets.${items.some(x => tasks.some(t => x.cells.get(t).n < total.get(t))) ? MIXED : ''} ${onRows} ${RANKS}`
  return table('ranking', columns, items, {
    title,
    finding,
    note,
    sort: '-over',
    last: references,
  })
}
