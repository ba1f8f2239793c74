import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { findProgram } from '../../test/repository/runner/programs.ts'
import { eachParallel } from './each-parallel.ts'
import { LinePrograms } from './line-program.ts'
import { compare, type Outcome, type Result, shapeOf } from './outcome.ts'
import { checkVersion, runKustomize } from './run-kustomize.ts'

const BAILIWICK = [process.execPath, join(import.meta.dirname, '../../src/surface/cli/run.ts'), 'render', '--stdin']
const KUSTOMIZATION_FILE = /^(?:kustomization\.ya?ml|Kustomization)$/
const LANES = 2

interface Found {
  readonly place: string
  readonly outcome: Outcome
  /** How long both took for it, in milliseconds; the real program starts anew for each directory. */
  readonly took: { readonly ours: number; readonly real: number }
}

/**
 * `npm run survey -- DIR...`: every directory of these repositories that has a kustomization file, built by us and by
 * the real kustomize, and every Flux Kustomization in them, rendered by us and by flux-render.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'no-flux': { type: 'boolean' }, all: { type: 'boolean' } },
  })
  const kustomize = findProgram('kustomize')
  const fluxRender = findProgram('flux-render')
  if (positionals.length === 0 || !kustomize || !fluxRender) {
    console.error(
      'usage: npm run survey -- [--no-flux] [--all] DIR...   (needs kustomize and flux-render, see .ci/run)',
    )
    return 2
  }
  checkVersion(kustomize)
  const builds: Found[] = []
  const renders: Found[] = []
  for (const directory of positionals.map(path => resolve(path))) {
    const files = filesBelow(directory)
    const built = await surveyBuilds(directory, files, kustomize)
    report(`${directory}: directories`, built, values.all ?? false)
    builds.push(...built)
    if (values['no-flux']) continue
    const rendered = await surveyRenders(directory, files, fluxRender)
    report(`${directory}: Flux Kustomizations`, rendered, values.all ?? false)
    renders.push(...rendered)
  }
  if (positionals.length > 1) {
    report('all directories', builds, false)
    if (renders.length > 0) report('all Flux Kustomizations', renders, false)
  }
  return [...builds, ...renders].some(({ outcome }) => outcome.verdict === 'wrong') ? 1 : 0
}

async function surveyBuilds(root: string, files: readonly string[], kustomize: string): Promise<Found[]> {
  const names = files.filter(file => KUSTOMIZATION_FILE.test(file.slice(file.lastIndexOf('/') + 1)))
  const directories = [...new Set(names.map(file => join(root, file, '..')))].sort()
  const ours = new LinePrograms(BAILIWICK, LANES)
  const found = await eachParallel(directories, LANES, directory => {
    const place = relative(root, directory) || '.'
    return inTurn(
      place,
      () => ours.ask({ build: directory, root }),
      () => runKustomize(kustomize, directory),
    )
  })
  ours.close()
  return found
}

async function surveyRenders(root: string, files: readonly string[], fluxRender: string): Promise<Found[]> {
  const requests = requestsOf(root, files)
  const [ours, real] = [new LinePrograms(BAILIWICK, LANES), new LinePrograms([fluxRender], LANES)]
  const found = await eachParallel(requests, LANES, ({ place, request }) =>
    inTurn(
      place,
      () => ours.ask(request),
      () => real.ask(request),
    ),
  )
  ours.close()
  real.close()
  return found
}

/** One after the other: neither waits for what the other one takes. */
async function inTurn(place: string, ours: () => Promise<Result>, real: () => Promise<Result>): Promise<Found> {
  const start = performance.now()
  const mine = await ours()
  const middle = performance.now()
  const theirs = await real()
  const took = { ours: middle - start, real: performance.now() - middle }
  return { place, outcome: compare(mine, theirs), took }
}

interface Kustomization {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly spec?: {
    readonly postBuild?: { readonly substituteFrom?: readonly { readonly kind?: string; readonly name?: string }[] }
  }
}

/** One request per Flux Kustomization that stands in a file; what it substitutes from is made up, with every variable of the files. */
function requestsOf(root: string, files: readonly string[]) {
  const requests: { place: string; request: object }[] = []
  const variables = new Set<string>()
  for (const file of files.filter(path => /\.ya?ml$/.test(path))) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/\$\{([A-Za-z_]\w*)/g)) variables.add(name)
    if (!text.includes('kustomize.toolkit.fluxcd.io')) continue
    for (const kustomization of kustomizationsOf(text)) {
      const place = `${file}: ${kustomization.metadata?.namespace ?? ''}/${kustomization.metadata?.name ?? ''}`
      requests.push({ place, request: { root, kustomization } })
    }
  }
  const data = Object.fromEntries([...variables].map(name => [name, name.toLowerCase().replaceAll('_', '-')]))
  return requests.map(({ place, request }) => ({ place, request: { ...request, objects: objectsFor(request, data) } }))
}

function objectsFor(request: object, data: Readonly<Record<string, string>>): object[] {
  const { kustomization } = request as { kustomization: Kustomization }
  const from = kustomization.spec?.postBuild?.substituteFrom ?? []
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]))
  const named = new Map(from.map(({ kind, name }) => [`${kind}/${name}`, { kind, name }]))
  return [...named.values()].map(({ kind, name }) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: kustomization.metadata?.namespace },
    data: kind === 'Secret' ? encoded : data,
  }))
}

function* kustomizationsOf(text: string): Generator<Kustomization> {
  for (const document of parseAllDocuments(text, { logLevel: 'error' })) {
    if (document.errors.length > 0) continue
    const object = document.toJS() as Kustomization | null
    if (object?.kind !== 'Kustomization' || !object.apiVersion?.startsWith('kustomize.toolkit.fluxcd.io/')) continue
    yield { ...object, metadata: { namespace: 'flux-system', ...object.metadata } }
  }
}

function filesBelow(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size < 5_000_000)
    .map(entry => relative(root, join(entry.parentPath, entry.name)))
    .filter(path => !path.startsWith('.git/'))
    .sort()
}

function report(title: string, found: readonly Found[], all: boolean): void {
  const count = (verdict: Outcome['verdict']) => found.filter(({ outcome }) => outcome.verdict === verdict).length
  const built = found.length - count('both fail') - count('wrong')
  const share = found.length === count('both fail') ? 100 : (100 * count('equal')) / Math.max(1, built + count('wrong'))
  console.log(
    `\n${title}: ${found.length}; equal ${count('equal')} (${share.toFixed(1)} % of what the real program builds), ` +
      `refused ${count('refused')}, both fail ${count('both fail')}, wrong ${count('wrong')}; ` +
      `we took ${seconds(found, 'ours')} s, the real program ${seconds(found, 'real')} s`,
  )
  const refused = found.flatMap(({ place, outcome }) => (outcome.verdict === 'refused' ? [{ place, ...outcome }] : []))
  const groups = [...Map.groupBy(refused, ({ why }) => shapeOf(why))].sort(([, a], [, b]) => b.length - a.length)
  for (const [shape, members] of groups) {
    console.log(`  refused ${members.length}: ${shape}`)
    for (const { place, why } of all ? members : members.slice(0, 2)) console.log(`      ${place}: ${why}`)
  }
  for (const { place, outcome } of found) {
    if (outcome.verdict === 'wrong') console.log(`  wrong: ${place}: ${outcome.difference}`)
  }
}

function seconds(found: readonly Found[], whose: keyof Found['took']): string {
  return (found.reduce((sum, { took }) => sum + took[whose], 0) / 1000).toFixed(1)
}

process.exitCode = await main()
