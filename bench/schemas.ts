import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { at, type MapNode, toJson } from '../src/kube/node.ts'
import { idOf, type KubeObject } from '../src/kube/object.ts'
import { parseDocuments } from '../src/kube/yaml/parse-documents.ts'
import { compareObject } from '../src/rules/schema/compare-object.ts'
import { NEWEST } from '../src/schema/types-table.ts'
import { record } from './figures.ts'
import { quantile } from './growth.ts'

// How many objects the schemas compare in a second of CPU time: `npm run bench:schemas -- DIR...`, whose YAML files are read first. Only
// objects that are compared count. The first round reads the tables and is printed apart, as are definitions of custom kinds; the
// rounds in which V8 still compiles are left out. In the same run, kubeconform and flux-schema compare the same objects where
// KUBECONFORM and FLUX_SCHEMA name them (default: ~/.cache/bailiwick/bin) and SCHEMAS the directory `catalog/latest` of flux-schema's
// repository, which both read. Their start is not counted: it is the difference of two runs.
const WARM_UP = 60
const ROUNDS = 30
const PROMISED = 50_000
const COPIES = [2, 12] as const

function objectsIn(dir: string): KubeObject[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(file => /\.ya?ml$/.test(file))
  return files.sort().flatMap(file => {
    try {
      const documents = parseDocuments({ repository: '', path: file }, readFileSync(join(dir, file)))
      const maps = documents.filter((node): node is MapNode => node.type === 'map' && at(node, ['kind']) !== undefined)
      return maps.map(root => ({ root, trail: [] }))
    } catch {
      // a template, or a link that leads nowhere
      return []
    }
  })
}

const none = () => []
const answerOf = (object: KubeObject) => compareObject(object, { minor: NEWEST, isCertain: true }, none, false).answer

function secondsOf(work: () => void): number {
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1e6
}

const rate = (count: number, seconds: number) => `${Math.round(count / seconds).toLocaleString('en-US')} objects/s`

/** CPU and wall seconds of a program, and how many objects it compared; undefined where its output is not understood. */
function run(program: string, args: readonly string[], compared: (output: string) => number | undefined) {
  const script = 'TIMEFORMAT="%U %S %R"; time "$0" "$@"'
  const { stdout, stderr } = spawnSync('bash', ['-c', script, program, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  const [user = 0, system = 0, wall = 0] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  const count = compared(stdout)
  return count === undefined ? undefined : { cpu: user + system, wall, count }
}

/** The rate of a program for what is between two numbers of copies, so that its start does not count. */
function rateOf(
  program: string,
  args: readonly string[],
  files: readonly string[],
  compared: (output: string) => number | undefined,
): string {
  const [few, many] = files.map(file => run(program, [...args, file], compared))
  if (!few || !many || many.count === few.count) return 'its output was not understood'
  const count = many.count - few.count
  return `${rate(count, many.cpu - few.cpu)} of CPU, ${rate(count, many.wall - few.wall)} on ${availableParallelism()} cores (${few.count} and ${many.count} compared)`
}

function beside(objects: readonly KubeObject[]): void {
  const schemas = process.env.SCHEMAS
  const named = (name: string, variable: string) =>
    process.env[variable] ?? join(homedir(), '.cache/bailiwick/bin', name)
  const [kubeconform, fluxSchema] = [named('kubeconform', 'KUBECONFORM'), named('flux-schema', 'FLUX_SCHEMA')]
  if (schemas === undefined) {
    console.log('  kubeconform and flux-schema: SCHEMAS does not name their schemas')
    return
  }
  const dir = mkdtempSync(join(tmpdir(), 'bench-schemas-'))
  try {
    const text = objects.map(({ root }) => JSON.stringify(toJson(root))).join('\n---\n')
    const files = COPIES.map(copies => {
      const file = join(dir, `${copies}.yaml`)
      writeFileSync(file, Array.from({ length: copies }, () => text).join('\n---\n'))
      return file
    })
    const [first] = files
    const parsed = secondsOf(() => {
      for (const root of parseDocuments({ repository: '', path: 'all.yaml' }, readFileSync(first!)))
        answerOf({ root: root as MapNode, trail: [] })
    })
    console.log(`  Bailiwick with the parser: ${rate(objects.length * COPIES[0], parsed)} of CPU`)
    const places = ['{{.Group}}', 'core'].flatMap(group => [
      '-schema-location',
      `${schemas}/${group}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`,
    ])
    if (existsSync(kubeconform))
      console.log(
        `  kubeconform: ${rateOf(kubeconform, ['-strict', '-summary', '-ignore-missing-schemas', ...places], files, validAndInvalid)}`,
      )
    else console.log('  kubeconform: not built here')
    const location = `${schemas}/{{.Group}}/{{.Kind}}_{{.Version}}.json`
    if (existsSync(fluxSchema))
      console.log(
        `  flux-schema: ${rateOf(fluxSchema, ['validate', '-o', 'json', '--skip-missing-schemas', '--timeout', '20m', '--schema-location', location], files, summarized)}`,
      )
    else console.log('  flux-schema: not built here')
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Summary: 10 resources found in 1 file - Valid: 7, Invalid: 2, Errors: 0, Skipped: 1 */
function validAndInvalid(output: string): number | undefined {
  const [, valid, invalid] = /Valid: (\d+), Invalid: (\d+)/.exec(output) ?? []
  return valid === undefined ? undefined : Number(valid) + Number(invalid)
}

function summarized(output: string): number | undefined {
  const { report } = JSON.parse(output) as { report?: { summary?: { valid?: number; invalid?: number } } }
  const { valid, invalid } = report?.summary ?? {}
  return valid === undefined ? undefined : valid + (invalid ?? 0)
}

const dirs = process.argv.slice(2)
const all = (dirs.length > 0 ? dirs : ['test/fleet/fleets', 'deploy']).flatMap(objectsIn)
let objects = all
const first = secondsOf(() => {
  objects = all.filter(object => answerOf(object).isKnown)
})
const kinds = new Set(objects.map(object => `${idOf(object).apiVersion} ${idOf(object).kind}`))
const problems = objects.reduce((sum, object) => sum + answerOf(object).count, 0)
console.log(`${objects.length} of ${all.length} objects compared, of ${kinds.size} kinds, ${problems} problems`)
console.log(`  first round ${rate(objects.length, first)}; promised ${PROMISED.toLocaleString('en-US')} of CPU:`)
// a definition has some 300 fields where other objects have 20, and each of its schemas and rules is compared
const isDefinition = (object: KubeObject) => idOf(object).kind === 'CustomResourceDefinition'
const sets = [
  ['all', objects],
  ['without definitions', objects.filter(object => !isDefinition(object))],
  ['definitions', objects.filter(isDefinition)],
] as const
const seconds = new Map<string, number[]>(sets.map(([name]) => [name, []]))
for (let round = -WARM_UP; round < ROUNDS; round++)
  for (const [name, some] of sets) {
    const taken = secondsOf(() => {
      for (const object of some) answerOf(object)
    })
    if (round >= 0) seconds.get(name)!.push(taken)
  }
for (const [name, { length }] of sets) {
  const [median, best] = [0.5, 0.25].map(share => rate(length, quantile(seconds.get(name)!, share)))
  const cpu = (quantile(seconds.get(name)!, 0.5) / length) * 1e6
  if (length > 0) record({ name: `1,000 objects, ${name}`, cpu, ratio: (cpu * PROMISED) / 1e6, to: 'promised' })
  if (length > 0) console.log(`  ${name}, ${length}: median ${median}, best quarter ${best}`)
}
beside(objects)
