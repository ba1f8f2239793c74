import { beforeAll, describe, expect, test } from 'vitest'
import { ended } from '../../src/base/message.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { annotationsOf } from '../../src/report/check-run-text.ts'
import { commentOf } from '../../src/report/comment.ts'
import { formats } from '../../src/report/formats/formats.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import { checkPageOf } from '../../src/report/page/build-pages.ts'
import { renderCheckPage } from '../../src/report/page/render-check-page.ts'
import type { Finding, NodeFailure, Verdict } from '../../src/rules/model/finding.ts'
import { rules } from '../../src/rules/registry.ts'
import { EvaluateSession } from '../../src/verdict/evaluate-sides.ts'
import { changesOf, readCases, treesOf } from '../attacks/attack-case.ts'
import { evaluateTrees } from '../attacks/evaluate-trees.ts'
import { isNew } from '../attacks/expectation.ts'
import { worlds } from '../attacks/worlds/index.ts'
import { SHA } from '../surface/web/sample-pages.ts'

/** A remedy that is joined to the sentence before it, such as `, Remove the field`. */
const JOINED =
  /, (?:Add|Ask|Change|Correct|Declare|Encrypt|Keep|List|Merge|Move|Remove|Rename|Replace|Restore|Set|Use|Write)\b/
const HOLES = /\bundefined\b|\bNaN\b|\[object |\bnull\b|function \(/

/** What is quoted was written by someone else, and so are the words of programs behind a colon. */
const own = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|`[^`]*`/g, '"x"').replace(/\bCapsule: \S.*?\.(?= |$)/g, 'Capsule refuses it.')

/** What is wrong with the shape of a text of ours. */
function faultsOf(text: string): string[] {
  const words = own(text)
  return [
    ...(JOINED.test(words) ? ['a remedy behind a comma'] : []),
    ...(HOLES.test(words) ? ['a value that is none'] : []),
    ...(/ {2}| [.,;:](?:\s|$)/.test(words.trim()) ? ['spaces'] : []),
    ...(/[^.]\.\.(?:\s|$)|\.,|,\./.test(words) ? ['two signs'] : []),
    ...(/^\p{Lu}|^["`$\w.:/<>-]/u.test(words) ? [] : ['its start']),
    ...(/[.!?)"`]$/.test(words.trimEnd()) ? [] : ['no period']),
  ]
}

/** One verdict for each rule that a case finds: the first one. */
function verdictsByRule(): ReadonlyMap<string, Verdict> {
  const found = new Map<string, Verdict>()
  const sessions = new Map([...worlds.values()].map(world => [world, new EvaluateSession()]))
  for (const one of readCases()) {
    for (const variant of one.variants.values()) {
      const { violations = [], warnings = [], errors = [] } = variant.expect ?? one.expect
      const fresh = [...violations, ...warnings, ...errors].filter(id => !found.has(id))
      if (fresh.length === 0) continue
      const before = treesOf(one.world, one.base)
      const { verdict } = evaluateTrees(
        treesOf(one.world, one.base, changesOf(variant)),
        before,
        sessions.get(one.world),
      )
      for (const id of fresh) found.set(id, verdict)
    }
  }
  return found
}

let verdicts: ReadonlyMap<string, Verdict>
let texts: readonly (Finding | NodeFailure)[]
beforeAll(() => {
  verdicts = verdictsByRule()
  const all = [...new Set(verdicts.values())]
  texts = all.flatMap(({ violations, warnings, errors }) => [...violations, ...warnings, ...errors]).filter(isNew)
}, 240_000)

const idOf = (one: Finding | NodeFailure) => ('rule' in one ? one.rule : one.code)

test('the cases have nearly every rule', () => {
  const missing = rules.filter(({ id }) => !verdicts.has(id)).map(({ id }) => id)
  expect(missing.length, missing.join(', ')).toBeLessThan(12)
})

test.for(['message', 'fix'] as const)('each %s is made of sentences', name => {
  // the message of an error has no period, also where the renderer raises it as a rule: its place and its fix follow on every surface
  const both = ['source-submodules', 'kustomize-symlink', 'substitution-injection', 'yaml-ambiguous']
  const raised = new Set([
    ...both,
    ...rules.flatMap(({ id, ...rule }) => (Object.keys(rule).some(key => key.startsWith('check')) ? [] : [id])),
  ])
  const isError = (one: Finding | NodeFailure) => !('rule' in one) || raised.has(one.rule)
  const textOf = (one: Finding | NodeFailure) => (isError(one) && name === 'message' ? ended(one[name]) : one[name])
  const faults = texts.flatMap(one => faultsOf(textOf(one)).map(fault => `${idOf(one)}: ${fault}: ${one[name]}`))
  expect([...new Set(faults)].slice(0, 40)).toEqual([])
})

test('what a rule says about itself is made of sentences', () => {
  const faults = rules.flatMap(({ id, why, docs }) =>
    [why, docs].flatMap(text => faultsOf(text).map(fault => `${id}: ${fault}: ${text}`)),
  )
  expect(faults).toEqual([])
})

describe('on each surface', () => {
  const plain = (markup: string) => markup.replace(/<[^>]*>/g, '')
  const surfaces: Readonly<Record<string, (verdict: Verdict, context: ReportContext) => string>> = {
    'the comment': (verdict, context) => commentOf(verdict, context) ?? '',
    'the check run': (verdict, context) => checkRunOf(verdict, context).summary,
    annotations: (verdict, context) =>
      annotationsOf(verdict, context)
        .map(one => `${one.title}\n${one.message}`)
        .join('\n'),
    'the page': (verdict, context) =>
      plain(
        renderCheckPage(
          checkPageOf(verdict, context, { owner: 'a', repo: 'b', check: 'c', at: '2026-06-30T00:00:00Z' }),
        ),
      ),
    ...Object.fromEntries(
      ['text', 'github'].map(name => [
        `-o ${name}`,
        (verdict: Verdict, { repository }: ReportContext) =>
          formats.get(name)!(verdict, { here: repository, rules, version: '1' }),
      ]),
    ),
  }

  test('in SARIF each text is made of sentences, that of an error and its remedy too', () => {
    const faults = [...new Set(verdicts.values())].flatMap(verdict => {
      const [run] = JSON.parse(formats.get('sarif')!(verdict, { here: '', rules, version: '1' })).runs
      const said: { message: { text: string } }[] = [
        ...run.results,
        ...(run.invocations[0].toolExecutionNotifications ?? []),
      ]
      return said.flatMap(({ message: { text } }) => faultsOf(text).map(fault => `${fault}: ${text}`))
    })
    expect([...new Set(faults)].slice(0, 20)).toEqual([])
    const [one] = texts.filter(one => !('rule' in one) && one.fix !== '')
    const printed = formats.get('sarif')!(
      { ...[...verdicts.values()][0]!, errors: [one as NodeFailure] },
      { here: '', rules, version: '1' },
    )
    expect(printed).toContain(JSON.stringify(`${ended(one!.message)} ${one!.fix}`).slice(1, -1))
  })

  /** A code span of punctuation only, with the quotes of another form in it, or of a part of an option. */
  const GARBLED = /(?<!`)`[).,;:(]+`(?!`)|(?<!`)`"[^"`]+"`(?!`)|--`/

  test.for(['the comment', 'the check run'])('%s has no quotation within another one', name => {
    const faults = [...verdicts].flatMap(([id, verdict]) => {
      const repository =
        [...verdict.violations, ...verdict.warnings, ...verdict.errors].find(isNew)?.origin.repository ?? ''
      const text = surfaces[name]!(verdict, { kind: 'pull-request', repository, headSha: SHA })
      return text.split('\n').flatMap(line => (GARBLED.test(line) ? [`${id}: ${line}`] : []))
    })
    expect([...new Set(faults)].slice(0, 20)).toEqual([])
  })

  test.for(Object.entries(surfaces))('%s joins no remedy by a comma and shows no value that is none', ([, render]) => {
    const faults = [...verdicts].flatMap(([id, verdict]) => {
      const repository =
        [...verdict.violations, ...verdict.warnings, ...verdict.errors].find(isNew)?.origin.repository ?? ''
      const words = own(render(verdict, { kind: 'pull-request', repository, headSha: SHA }))
      return [JOINED, HOLES].flatMap(fault => {
        const at = words.search(fault)
        return at < 0 ? [] : [`${id}: ${words.slice(Math.max(0, at - 60), at + 60)}`]
      })
    })
    expect([...new Set(faults)].slice(0, 20)).toEqual([])
  })
})
