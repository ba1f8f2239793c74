import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { scopeOf } from '../../src/kube/capabilities/scope.ts'
import { canonical, type Json, type MapNode, stringAt, toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { checkObject } from '../../src/schema/check-object.ts'
import { kindEntry } from '../../src/schema/types-table.ts'
import { someMutants } from '../../test/rules/schema/mutants.ts'
import { startCluster, type TestCluster } from '../envtest/start.ts'

type JsonMap = Record<string, Json>

interface Question {
  readonly what: string
  readonly object: JsonMap
}

interface Answer extends Question {
  readonly ours: string | undefined
  readonly server: string | undefined
}

/** Of the API server of the tests. */
const VERSION = 36
const LANES = 8
/** Definitions of custom kinds can be larger than what is worth asking. */
const MAX_TEXT = 50_000
/** They are made by requests of their own, or name what only a cluster has. */
const NOT_ASKED = new Set(['TokenReview', 'SubjectAccessReview', 'Event', 'Binding', 'Eviction', 'Node', 'List'])

/**
 * `npm run differential:schemas -- [--objects N] [--mutants N] [--flux-schema PROGRAM --catalog DIR] DIR...`: objects of
 * Kubernetes' own kinds in the YAML files of these directories, and changes of them, each asked of us and of a real API
 * server (server-side apply with dryRun=All, as Flux asks), and, where it is named, of flux-schema.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      objects: { type: 'string', default: '5000' },
      mutants: { type: 'string', default: '5000' },
      'flux-schema': { type: 'string' },
      catalog: { type: 'string' },
      all: { type: 'boolean' },
    },
  })
  if (positionals.length === 0) {
    console.error(
      'usage: npm run differential:schemas -- [--objects N] [--mutants N] [--all] [--flux-schema PROGRAM --catalog DIR] DIR...',
    )
    return 2
  }
  const objects = spread(positionals.flatMap(objectsIn), Number(values.objects))
  const plain = objects.map(object => ({ what: 'as it is', object }))
  const perObject = Math.ceil((2 * Number(values.mutants)) / Math.max(1, objects.length))
  const changed = spread(
    objects.flatMap((object, index) =>
      [...someMutants(object, index, perObject)].map(one => ({ what: one.what, object: one.changed })),
    ),
    Number(values.mutants),
  )
  const cluster = await startCluster({ workerRbac: false })
  const answers: Answer[][] = []
  try {
    await cluster.request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'probe' },
    })
    const ask = refusals(cluster)
    for (const questions of [plain, changed]) answers.push(await askAll(questions, ask))
  } finally {
    await cluster.stop()
  }
  const [asTheyAre = [], withChanges = []] = answers
  const wrong =
    report('objects', asTheyAre, values.all === true) + report('changed objects', withChanges, values.all === true)
  const program = values['flux-schema']
  if (program) compareWithFluxSchema(program, values.catalog, [...asTheyAre, ...withChanges])
  return wrong > 0 ? 1 : 0
}

/** Some of many, evenly over all, in an order that does not depend on their directories. */
function spread<T>(all: readonly T[], count: number): T[] {
  const hash = (one: T) => createHash('sha1').update(JSON.stringify(one)).digest('hex')
  const sorted = all.map(one => [hash(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.slice(0, count).map(([, one]) => one)
}

function objectsIn(directory: string): JsonMap[] {
  const seen = new Set<string>()
  return globSync('**/*.{yaml,yml}', { cwd: directory }).flatMap(file => {
    let documents: readonly unknown[]
    try {
      documents = parseDocuments({ repository: '', path: file }, readFileSync(join(directory, file)))
    } catch {
      // a template, or a link that leads nowhere
      return []
    }
    return documents.flatMap(node => {
      const root = node as MapNode
      if (root.type !== 'map' || !isAsked(root)) return []
      const text = canonical(root)
      if (text.length > MAX_TEXT || seen.has(text) || /\$\{|ENC\[AES256_GCM/.test(text)) return []
      seen.add(text)
      return [placed(toJson(root) as JsonMap)]
    })
  })
}

function isAsked(root: MapNode): boolean {
  const [apiVersion, kind] = [stringAt(root, ['apiVersion']) ?? '', stringAt(root, ['kind']) ?? '']
  const name = stringAt(root, ['metadata', 'name'])
  return kindEntry(apiVersion, kind) !== undefined && !NOT_ASKED.has(kind) && name !== undefined && name !== ''
}

/** Every namespace is the one that the API server has. */
function placed(object: JsonMap): JsonMap {
  const metadata = { ...(object.metadata as JsonMap) }
  const isScoped = scopeOf(String(object.apiVersion), String(object.kind), new Map()) !== 'Cluster'
  if (isScoped) metadata.namespace = 'probe'
  else delete metadata.namespace
  delete metadata.resourceVersion
  return { ...object, metadata }
}

/** Why the API server refuses to apply an object. */
function refusals(cluster: TestCluster): (object: JsonMap) => Promise<string | undefined> {
  const plurals = new Map<string, Map<string, string>>()
  return async object => {
    const { apiVersion, kind } = object as { apiVersion: string; kind: string }
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    let names = plurals.get(apiVersion)
    if (!names) {
      const { body } = await cluster.request('GET', base)
      const { resources = [] } = body as unknown as { resources?: { kind: string; name: string }[] }
      names = new Map(resources.filter(one => !one.name.includes('/')).map(one => [one.kind, one.name]))
      plurals.set(apiVersion, names)
    }
    const plural = names.get(kind)
    if (plural === undefined) return NOT_SERVED
    const { name, namespace } = object.metadata as { name: string; namespace?: string }
    const place = namespace === undefined ? '' : `/namespaces/${namespace}`
    const path = `${base}${place}/${plural}/${encodeURIComponent(String(name))}`
    const answer = await cluster.request('PATCH', `${path}?dryRun=All&force=true&fieldManager=test`, object, {
      contentType: 'application/apply-patch+yaml',
    })
    return answer.status < 300 ? undefined : String((answer.body as { message?: string }).message ?? answer.status)
  }
}

async function askAll(
  questions: readonly Question[],
  ask: (object: JsonMap) => Promise<string | undefined>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  const work = [...questions]
  const lane = async () => {
    for (let one = work.pop(); one; one = work.pop())
      answers.push({ ...one, ours: ours(one.object), server: await ask(one.object) })
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return answers
}

const ACCEPTED = ['deprecated-version', 'dropped-field', 'dropped-labels']

function ours(object: JsonMap): string | undefined {
  const [root] = parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(JSON.stringify(object)))
  const [problem] = checkObject(root as MapNode, { version: VERSION }).problems.filter(
    ({ kind }) => !ACCEPTED.includes(kind),
  )
  return problem && `${problem.kind} ${problem.path.join('.')}: ${problem.allowed}`
}

/** Kinds that this API server does not serve: those of alpha and beta versions are off by default. */
const NOT_SERVED = 'not served'

function report(what: string, all: readonly Answer[], isWhole: boolean): number {
  const answers = all.filter(({ server }) => server !== NOT_SERVED)
  return reportOf(what, answers, isWhole)
}

function reportOf(what: string, answers: readonly Answer[], isWhole: boolean): number {
  const onlyOurs = answers.filter(one => one.ours !== undefined && one.server === undefined)
  const onlyServer = answers.filter(one => one.ours === undefined && one.server !== undefined)
  const both = answers.filter(one => one.ours !== undefined && one.server !== undefined)
  console.log(
    `${answers.length} ${what}: ${both.length} refused by both, ${answers.length - both.length - onlyOurs.length - onlyServer.length} accepted by both, ${onlyOurs.length} refused by us alone, ${onlyServer.length} by the API server alone`,
  )
  for (const one of onlyOurs.slice(0, isWhole ? undefined : 40)) console.log(`  only ours: ${nameOf(one)}: ${one.ours}`)
  const causes = new Map<string, Answer[]>()
  for (const one of onlyServer) {
    const cause = causeOf(one.server!)
    causes.set(cause, [...(causes.get(cause) ?? []), one])
  }
  for (const [cause, list] of [...causes].sort(([, a], [, b]) => b.length - a.length))
    console.log(`  only the API server, ${list.length}: ${cause} (${nameOf(list[0]!)})`)
  return onlyOurs.length
}

const nameOf = ({ what, object }: Question) => `${object.kind} ${(object.metadata as JsonMap).name}: ${what}`

/** A message of the API server without what stands in one object alone. */
const causeOf = (message: string): string =>
  message
    .replace(/^[\w.]+ "[^"]*" is invalid: /, '')
    .replace(/^\[/, '')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, '[]')
    .slice(0, 160)

function compareWithFluxSchema(program: string, catalog: string | undefined, answers: readonly Answer[]): void {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-schemas-'))
  try {
    const file = join(directory, 'all.yaml')
    writeFileSync(file, answers.map(({ object }) => JSON.stringify(object)).join('\n---\n'))
    const location = catalog ? ['--schema-location', `${catalog}/{{.Group}}/{{.Kind}}_{{.Version}}.json`] : []
    const run = spawnSync(
      program,
      ['validate', file, '-o', 'json', '-v', '--skip-missing-schemas', '--timeout', '20m', ...location],
      {
        encoding: 'utf8',
        maxBuffer: 1 << 30,
      },
    )
    const { report } = JSON.parse(run.stdout) as {
      report: {
        results: { idx: number; status: string; violations?: { path: string; message: string }[]; reason?: string }[]
      }
    }
    const counts = { same: 0, oursAndServer: 0, theirsAndServer: 0, onlyOurs: 0, onlyTheirs: 0, skipped: 0 }
    for (const { idx, status, violations, reason } of report.results) {
      const answer = answers[idx - (report.results[0]!.idx === 1 ? 1 : 0)]
      if (answer === undefined || status === 'skipped') {
        counts.skipped += 1
        continue
      }
      const theirs = status !== 'valid'
      if (theirs === (answer.ours !== undefined)) counts.same += 1
      else if (!theirs) counts[answer.server === undefined ? 'onlyOurs' : 'oursAndServer'] += 1
      else if (answer.server === undefined) {
        counts.onlyTheirs += 1
        if (counts.onlyTheirs <= 30)
          console.log(
            `  only flux-schema: ${nameOf(answer)}: ${reason} ${violations?.[0]?.path} ${violations?.[0]?.message}`,
          )
      } else counts.theirsAndServer += 1
    }
    console.log(
      `flux-schema: ${counts.same} equal; refused by us and the API server, not by it ${counts.oursAndServer}; by it and the API server, not by us ${counts.theirsAndServer}; by us alone ${counts.onlyOurs}; by it alone ${counts.onlyTheirs}; ${counts.skipped} without a schema`,
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
}

process.exitCode = await main()
