import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { importsOf, resolveFrom } from './sources.ts'

const root = join(import.meta.dirname, '../../..')

/**
 * What a file of the tests reads besides what it imports, as globs: [] for one that reads only what it has written itself, or what is
 * no part of the repository, and starts no program of ours. A test that reaches a reader that is not listed always runs.
 */
export const INPUTS: Readonly<Record<string, readonly string[]>> = {
  'test/attacks/attack-case.ts': ['test/attacks/*/case.yaml'],
  'test/attacks/shares.ts': ['test/attacks/*/case.yaml'],
  'test/surface/cli/two-tenants.ts': ['test/fleet/fleets/acme/**'],
  'test/cluster/fault-proxy.ts': [],
  'tools/envtest/artifacts.ts': [],
  'tools/envtest/assets.ts': ['tools/envtest/go.mod'],
  'tools/envtest/flux-assets.ts': [],
  'tools/envtest/flux-controller.ts': [],
  'tools/envtest/program.ts': [],
  'tools/envtest/start.ts': [],
  'tools/envtest/worker-rbac.ts': ['deploy/worker-rbac.yaml'],
  'test/fleet/read-folder.ts': [],
  'test/fleet/fleets/read-fleet.ts': ['test/fleet/fleets/**'],
  'test/base/git/temporary-folder.ts': [],
  'tools/github/http/description.ts': [],
  'test/cluster/oci/start-registry.ts': [],
  'test/tenants/onboard/fleets.ts': [],
  'tools/oracles/fixtures.ts': ['test/fixtures/render/**'],
  'tools/oracles/real-programs.ts': [],
  'test/repository/runner/programs.ts': [],
  'test/workers/queue/start-redis.ts': [],
  'test/flux/sops/real-sops.ts': [],
  'test/workers/story/settings.ts': [],
  'test/workers/story/stage.ts': ['app.yml'],
  'test/workers/story/traces.ts': [],
  'test/workers/story/write-clone.ts': [],
  'test/surface/web/chromium.ts': [],
}

/** A change of these is one of every test. */
const OF_ALL = [
  'package.json',
  'package-lock.json',
  'vitest.config.ts',
  'test/repository/runner/run.ts',
  'test/repository/runner/changed-tests.ts',
]

/** What finds files by their place, reads, or starts something. */
const READS =
  /\bimport\.meta\.(?:dirname|filename|url|resolve)|\bprocess\.cwd\(|['"](?:node:)?(?:fs|fs\/promises|child_process|worker_threads|cluster)['"]/

/** Whether a file of the tests may read what it does not import; the product's own files are given what they read. */
export const isReader = (path: string, text: string): boolean => !/^(?:src|workers)\//.test(path) && READS.test(text)

/** The tests that a change of these files may change: those that import one, read one, or may read anything. */
export function testsOf(changed: readonly string[]): string[] {
  const { texts, imports } = sources()
  const tests = [...texts.keys()].filter(path => path.endsWith('.test.ts')).sort()
  if (changed.some(path => OF_ALL.includes(path))) return tests
  const isChanged = (path: string): boolean => changed.includes(path)
  const reads = (path: string): boolean =>
    isReader(path, texts.get(path) ?? '') &&
    (INPUTS[path]?.some(glob => changed.some(one => matchesGlob(one, glob))) ?? true)
  return tests.filter(test => [...reached(test, imports)].some(path => isChanged(path) || reads(path)))
}

let read: ReturnType<typeof readSources> | undefined

function sources() {
  read ??= readSources()
  return read
}

function readSources() {
  const files = globSync('{src,workers,test,tools,docs,build,bench}/**/*.ts', { cwd: root })
  const texts = new Map(files.map(path => [path, readFileSync(join(root, path), 'utf8')]))
  return { texts, imports: new Map([...texts].map(([path, text]) => [path, importedBy(path, text)])) }
}

/** The paths of ours that a file imports, tables too. */
const importedBy = (path: string, text: string): string[] =>
  importsOf(text).flatMap(({ specifier }) => (specifier.startsWith('.') ? [resolveFrom(path, specifier)] : []))

function reached(from: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set([from])
  for (const path of seen) for (const next of imports.get(path) ?? []) seen.add(next)
  return seen
}

/** Paths that differ from a commit, or that git does not know yet. */
export function changedSince(commit: string): string[] {
  const lines = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  return [...lines('diff', '--name-only', commit), ...lines('ls-files', '--others', '--exclude-standard')]
}
