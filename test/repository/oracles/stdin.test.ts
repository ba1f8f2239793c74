import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Json, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { comparable } from '../../../tools/oracles/fixtures.ts'
import { FLUX_RENDER, KUSTOMIZE, kustomizeBuild } from '../../../tools/oracles/real-programs.ts'

const PROGRAM = join(import.meta.dirname, '../../../src/surface/cli/bailiwick.js')
const FLEETS = join(import.meta.dirname, '../../../../shared/fleets')
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-stdin-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Request = Readonly<Record<string, Json>>
interface Answer {
  readonly files?: string[]
  readonly objects?: Json[]
  readonly error?: string
}

function ask(command: readonly string[], requests: readonly Request[]): Answer[] {
  const input = requests.map(request => `${JSON.stringify(request)}\n`).join('')
  const run = spawnSync(command[0]!, command.slice(1), { input, encoding: 'utf8', maxBuffer: 2 ** 28, cwd: folder })
  expect(run.status, run.stderr).toBe(0)
  const lines = run.stdout.trimEnd().split('\n')
  expect(lines.length).toBe(requests.length)
  return lines.map(line => JSON.parse(line) as Answer)
}

const ours = (requests: readonly Request[]): Answer[] => ask([process.execPath, PROGRAM, 'render', '--stdin'], requests)

/** Errors are told by that they are; ours starts with a code. Without objects the field may be absent. */
function compared({ files, objects, error }: Answer): Json {
  if (error !== undefined) return { files: files ?? [], fails: true }
  return { files: files ?? [], objects: (objects ?? []).map(comparable) }
}

function holdEqual(requests: readonly Request[], expected: readonly Answer[]): void {
  const answers = ours(requests)
  for (const [index, answer] of answers.entries()) {
    if (answer.error !== undefined) expect(answer.error).toMatch(/^[a-z]+(?:-[a-z]+)*: \S/)
    const told = JSON.stringify({ request: requests[index], ours: answer.error, real: expected[index]!.error })
    expect(compared(answer), told).toEqual(compared(expected[index]!))
  }
}

const configMap = (name: string, more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}data:\n  x: one\n`
const FILES = {
  'apps/a.yaml': configMap('a', '  namespace: apps\n'),
  'apps/b.yml': `${configMap('b', '  labels:\n    tier: two\n')}---\n${configMap('c')}`,
  'apps/sub/kustomization.yaml': 'resources:\n  - web.yaml\nlabels:\n  - pairs:\n      owner: us\n',
  'apps/sub/web.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  selector:\n    matchLabels: {app: web}\n' +
    '  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n        - name: a\n          image: example/a:1\n          ports:\n            - containerPort: 80\n',
  'apps/notes.txt': 'no manifest\n',
  'overlay/kustomization.yaml': 'resources:\n  - ../apps/sub\nnamespace: team\n',
  'empty/readme.md': '',
  'logo.png': 'x',
}

const PATHS = [
  './',
  undefined,
  './apps',
  'apps/sub',
  '/overlay/',
  './overlay/../apps',
  '../../apps',
  './empty',
  './none',
]
const NAMESPACES = [undefined, 'forced', undefined, 'kube-system']
const PATCHES: (Json | undefined)[] = [
  undefined,
  [{ patch: '- op: replace\n  path: /data/x\n  value: two\n', target: { kind: 'ConfigMap', name: 'a' } }],
  [{ patch: 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n' }],
  [{ patch: 'kind: any\nmetadata:\n  name: any\n  labels:\n    seen: "yes"\n', target: { labelSelector: 'tier=two' } }],
  [{ patch: '- {op: remove, path: /data/none}', target: { kind: 'ConfigMap' } }],
]
const SOURCE_IGNORES = [
  undefined,
  '/apps/b.yml\n',
  '*.yml\n!apps/b.yml\n',
  '# none\n\n',
  'apps/**\n!apps/sub/**\n',
  '/*\n!/apps\n',
]
const IGNORES = [undefined, '/overlay/\n', '*.txt\n', '!logo.png\n', undefined, '/*\n!/overlay\n!/apps/sub/\n', '']

/** A request that differs from its neighbours in every part. */
function generated(index: number): Request {
  const root = join(folder, `g${index}`)
  const sourceIgnore = SOURCE_IGNORES[index % SOURCE_IGNORES.length]
  const files = { ...FILES, ...(sourceIgnore === undefined ? {} : { '.sourceignore': sourceIgnore }) }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const path = PATHS[index % PATHS.length]
  const targetNamespace = NAMESPACES[(index >> 1) % NAMESPACES.length]
  const patches = PATCHES[(index >> 2) % PATCHES.length]
  const ignore = IGNORES[index % IGNORES.length]
  const spec = {
    ...(path === undefined ? {} : { path }),
    ...(targetNamespace === undefined ? {} : { targetNamespace }),
    ...(patches === undefined ? {} : { patches }),
  }
  const kustomization = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'k', namespace: 'apps' },
    spec,
  }
  return {
    root,
    ...(ignore === undefined ? {} : { ignore }),
    // every seventh only asks for the files
    ...(index % 7 === 6 ? {} : { kustomization }),
  }
}

/** The Kustomizations that the manifests of a repository hold, as requests about every repository of its fleet. */
function* requestsOfFleets(): Generator<Request> {
  for (const fleet of existsSync(FLEETS) ? readdirSync(FLEETS, { withFileTypes: true }) : []) {
    if (!fleet.isDirectory()) continue
    const repositories = readdirSync(join(FLEETS, fleet.name)).map(name => join(FLEETS, fleet.name, name))
    for (const repository of repositories) {
      const files = readdirSync(repository, { recursive: true, encoding: 'utf8' }).filter(path => /\.ya?ml$/.test(path))
      for (const path of files) {
        const documents = parseDocuments({ repository: '', path }, readFileSync(join(repository, path))).map(toJson)
        for (const kustomization of documents as { apiVersion?: string; kind?: string }[]) {
          const { apiVersion, kind } = kustomization
          if (kind !== 'Kustomization' || !apiVersion?.startsWith('kustomize.toolkit.fluxcd.io/')) continue
          for (const root of repositories) yield { root, kustomization: kustomization as Json }
        }
      }
    }
  }
}

describe('render --stdin answers as the real programs do', () => {
  test('generated Kustomizations, paths, patches and ignore files', { timeout: 120_000 }, context => {
    const program = FLUX_RENDER ?? context.skip('no flux-render on this machine')
    const requests = Array.from({ length: 63 }, (_, index) => generated(index))
    const expected = ask([program], requests)
    expect(expected.filter(answer => answer.objects).length).toBeGreaterThan(25)
    expect(expected.filter(answer => answer.error).length).toBeGreaterThan(5)
    holdEqual(requests, expected)
  })

  test('the Kustomizations of the fleets at hand', { timeout: 120_000 }, context => {
    const program = FLUX_RENDER ?? context.skip('no flux-render on this machine')
    const requests = [...requestsOfFleets()]
    if (requests.length === 0) context.skip('no ../shared/fleets beside the project')
    holdEqual(requests, ask([program], requests))
  })

  test('plain builds', { timeout: 120_000 }, context => {
    const program = KUSTOMIZE ?? context.skip('no kustomize on this machine')
    const { root } = generated(0) as { root: string }
    const directories = ['apps/sub', 'overlay', 'apps', 'none', '.']
    const requests = directories.flatMap(path => [{ build: join(root, path), root }, { build: join(root, path) }])
    const expected = requests.map(({ build }): Answer => {
      const built = kustomizeBuild(program, build)
      return 'objects' in built ? { objects: built.objects } : { error: 'failed' }
    })
    holdEqual(requests, expected)
  })

  test('what is no request is an answer, too, and the next line is served', () => {
    const { root } = generated(1) as { root: string }
    const fields = [
      '"ignore": 1',
      '"strict": "x"',
      '"kustomization": {}',
      '"kustomization": []',
      '"objects": [{}]',
    ].map(field => `{"root": ${JSON.stringify(root)}, ${field}}`)
    const lines = ['{', '[]', '{}', '"x"', `{"build": 1}`, ...fields, `{"root": ${JSON.stringify(join(root, 'none'))}}`]
    const input = [...lines, '', JSON.stringify({ root })].join('\n')
    const run = spawnSync(process.execPath, [PROGRAM, 'render', '--stdin'], { input, encoding: 'utf8' })
    expect([run.status, run.stderr]).toEqual([0, ''])
    const answers = run.stdout.trimEnd().split('\n')
    expect(answers.map(line => (JSON.parse(line) as Answer).error?.split(':')[0])).toEqual([
      'usage',
      'usage',
      'usage',
      'usage',
      'usage',
      ...fields.map(() => 'usage'),
      'git-missing',
      undefined,
    ])
  })
})
