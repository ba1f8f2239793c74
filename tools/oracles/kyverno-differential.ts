import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '../../src/kube/node.ts'
import { answersHere, type PolicyFleet, randomPolicyFleet } from './kyverno-differential/policy-fleet.ts'
import { shrunkFleet } from './kyverno-differential/shrunk-fleet.ts'

// Random policies, objects and exceptions through Kyverno's command line and through our engine: `npm run differential:kyverno -- --fleets
// 500 --seed 1`, with the program at KYVERNO or ~/.cache/bailiwick/bin/kyverno. Prints each difference, with
// `--shrink yes` the smallest input of it; `--golden N` writes N fleets with Kyverno's answers to test/rules/admission/kyverno/golden-fleets.json.
const options = new Map(
  process.argv.slice(2).flatMap((one, at, all) => (one.startsWith('--') ? [[one.slice(2), all[at + 1] ?? '']] : [])),
)
const fleets = Number(options.get('fleets') ?? '20')
const seed = Number(options.get('seed') ?? '1')
const program = process.env.KYVERNO ?? join(homedir(), '.cache/bailiwick/bin/kyverno')

interface Report {
  readonly results?: readonly {
    readonly policy: string
    readonly rule?: string
    readonly result: string
    readonly message?: string
    readonly resources: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[]
  }[]
}

/** Kyverno's answers by policy, rule and object. A rule that does not apply has none. */
function answersOfKyverno({ policies, objects, exceptions, operation, namespaces, user }: PolicyFleet): KyvernoAnswers {
  const dir = mkdtempSync(join(tmpdir(), 'kyverno-differential-'))
  const file = (name: string, documents: readonly Json[]) => {
    writeFileSync(join(dir, name), documents.map(one => `---\n${JSON.stringify(one)}\n`).join(''))
    return join(dir, name)
  }
  try {
    const values = {
      apiVersion: 'cli.kyverno.io/v1alpha1',
      kind: 'Values',
      metadata: { name: 'values' },
      globalValues: { 'request.operation': operation },
      namespaceSelector: [...namespaces],
    }
    const args = [
      'apply',
      file('policies.yaml', policies),
      '--resource',
      file('objects.yaml', objects),
      '--values-file',
      file('values.yaml', [values]),
      '--policy-report',
      '--output-format',
      'json',
    ]
    if (exceptions.length > 0) args.push('--exception', file('exceptions.yaml', exceptions))
    if (user) args.push('--userinfo', file('user.yaml', [userOf(user)]))
    return readReport(run(args), policies)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const userOf = (user: NonNullable<PolicyFleet['user']>): Json => ({
  ...{ apiVersion: 'cli.kyverno.io/v1alpha1', kind: 'UserInfo', metadata: { name: 'user' } },
  ...(user as unknown as { [key: string]: Json }),
})

function run(args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    // it exits with 1 for a refused object
    const { stdout } = error as { readonly stdout?: string }
    if (stdout === undefined) throw error
    return stdout
  }
}

interface KyvernoAnswers {
  /** `<result>\0<message>` by policy, rule and object. */
  readonly answers: Map<string, string>
  /** False where the program ended without a report: it panics for a message that is not text. */
  readonly isReport: boolean
  /** Policies that Kyverno does not accept. */
  readonly refused: ReadonlySet<string>
}

function readReport(output: string, policies: PolicyFleet['policies']): KyvernoAnswers {
  const lines = output.split('\n').filter(one => one.startsWith('{'))
  const answers = new Map<string, string>()
  for (const { policy, rule = '', result, message = '', resources } of lines.flatMap(
    line => (JSON.parse(line) as Report).results ?? [],
  )) {
    const name = policy.split('/').at(-1)!
    const written = policies.find(({ metadata }) => (metadata as { name: Json }).name === name)
    const own = written?.metadata as { namespace?: Json } | undefined
    // the name of an error in a condition of a policy without rules
    const ruleName = written?.apiVersion === 'kyverno.io/v1' || rule !== 'evaluation' ? rule : ''
    for (const { kind, namespace = '', name: object } of resources) {
      // the command line also asks namespaced policies about objects of other namespaces
      if (own?.namespace !== undefined && own.namespace !== namespace) continue
      const key = `${name}/${ruleName.replace(/^autogen-(?:cronjob-)?/, '')} ${kind} ${namespace}/${object}`
      answers.set(key, `${result === 'warn' ? 'fail' : result}\0${message}`)
    }
  }
  const [first] = lines
  const before = output.slice(0, first === undefined ? undefined : output.indexOf(first))
  return {
    answers,
    isReport: first !== undefined,
    refused: new Set([...before.matchAll(/^\d+\. ([^:\s]+): /gm)].map(([, name]) => name!.split('/').at(-1)!)),
  }
}

interface Difference {
  readonly key: string
  readonly kyverno: string
  readonly here: string
}

/** Of a policy without rules an error counts as a refusal: its failurePolicy decides. */
const isCel = (key: string) => key.includes('/ ')

let [equal, notEvaluated, invalid, ended] = [0, 0, 0, 0]
const unclear = new Map<string, number>()

/** What differs; a rule that says nothing equals one that is skipped. */
function differences(fleet: PolicyFleet, isCounted = false): Difference[] {
  const { answers: theirs, refused, isReport } = answersOfKyverno(fleet)
  if (isCounted) invalid += refused.size
  if (isCounted && !isReport) ended++
  if (!isReport) return []
  const ours = answersHere(fleet)
  const found: Difference[] = []
  for (const key of new Set([...theirs.keys(), ...ours.keys()])) {
    if (refused.has(key.split('/')[0]!)) continue
    const [kyverno = 'skip', message = ''] = (theirs.get(key) ?? 'skip').split('\0')
    const { actual: here, message: why } = ours.get(key) ?? { actual: 'skip', message: '' }
    if (here === 'not evaluated') {
      if (isCounted) notEvaluated++
      if (isCounted) unclear.set(why, (unclear.get(why) ?? 0) + 1)
    } else if (here === kyverno || (isCel(key) && [here, kyverno].every(one => one === 'fail' || one === 'error'))) {
      if (isCounted && here !== 'skip') equal++
    } else found.push({ key, kyverno: `${kyverno} (${message.slice(0, 200)})`, here: `${here} (${why.slice(0, 200)})` })
  }
  return found
}

const GOLDEN = new URL('../../test/rules/admission/kyverno/golden-fleets.json', import.meta.url)
const golden: unknown[] = []

/** A fleet without the policies that Kyverno refuses, and Kyverno's answers. */
function goldenFleet(fleet: PolicyFleet) {
  const { answers, refused } = answersOfKyverno(fleet)
  const isAccepted = ({ metadata }: { [key: string]: Json }) => !refused.has(String((metadata as { name: Json }).name))
  const said = [...answers].map(([key, answer]) => {
    const [result] = answer.split('\0')
    return [key, isCel(key) && result === 'error' ? 'fail' : result] as const
  })
  return {
    ...fleet,
    policies: fleet.policies.filter(isAccepted),
    answers: Object.fromEntries(said.filter(([, answer]) => answer !== 'skip')),
  }
}

let different = 0
for (let at = 0; at < fleets; at++) {
  const fleet = randomPolicyFleet(seed * 10_000 + at)
  const found = differences(fleet, true)
  different += found.length
  if (golden.length < Number(options.get('golden') ?? '0') && found.length === 0) {
    const made = goldenFleet(fleet)
    if (Object.keys(made.answers).length > 0) golden.push(made)
  }
  for (const one of found.slice(0, 3)) {
    console.info(`fleet ${seed * 10_000 + at}: ${one.key}: Kyverno ${one.kyverno}, here ${one.here}`)
    if (!options.has('shrink')) continue
    const small = shrunkFleet(fleet, one.key, smaller => differences(smaller).some(({ key }) => key === one.key))
    console.info(JSON.stringify(small))
  }
  if (at % 25 === 24)
    console.info(`${at + 1} fleets: ${equal} equal, ${different} different, ${notEvaluated} not evaluated`)
}
if (golden.length > 0) writeFileSync(GOLDEN, `[\n${golden.map(one => JSON.stringify(one)).join(',\n')}\n]\n`)
console.info(
  `${fleets} fleets: ${equal} equal answers, ${different} different, ${notEvaluated} not evaluated; ${invalid} policies that Kyverno refuses, ${ended} runs without a report`,
)
for (const [why, count] of [...unclear].sort((a, b) => b[1] - a[1]).slice(0, 20)) console.info(`  ${count} ${why}`)
process.exitCode = different > 0 ? 1 : 0
