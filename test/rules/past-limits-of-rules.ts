import { expect } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { compilePattern } from '../../src/expr/regexp/compile-pattern.ts'
import type { FleetIndex } from '../../src/fleet/facts/fleet-index.ts'
import type { FleetNode } from '../../src/fleet/model/fleet.ts'
import type { Tree, TreeEntry } from '../../src/git/tree.ts'
import { mapNode, type Node, textNode } from '../../src/kube/node.ts'
import { YAML_LIMITS } from '../../src/kube/yaml/cursor.ts'
import { decodeText, parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { BuildBudget, type BuildCost, checkObjectSize } from '../../src/kustomize/build-budget.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { readEnvFile } from '../../src/kustomize/pipeline/generate-object.ts'
import { namedPaths } from '../../src/rules/git/rendered-tree.ts'
import { readAttributes } from '../../src/rules/git/repository-files.ts'
import { sharedPaths } from '../../src/rules/kustomize/escaping-paths.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { secretsInFiles } from '../../src/rules/secrets/plaintext-secret.ts'
import { encryptedDocuments } from '../../src/rules/secrets/sops-files.ts'
import { readTenantForm } from '../../src/tenants/onboard/tenant-form.ts'
import { emptyFound } from '../../src/verdict/assess.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { evaluationOf, fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const ORIGIN = { repository: '', file: 'a.yaml', line: 1, column: 1 }
const FILE = { repository: '', path: 'a.yaml' }
const MIB = 1024 * 1024
const LIMIT = /^render-limits/

/** `<code>: <message>` of the refusal, or 'done'. */
function outcome(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return error instanceof BailiwickError ? `${error.code}: ${error.message}` : String(error)
  }
  return 'done'
}

/** What is at the limit is done, and what is one past it is refused. */
function passes(at: () => unknown, past: () => unknown, refusal = LIMIT): void {
  expect(outcome(at)).toBe('done')
  expect(outcome(past)).toMatch(refusal)
}

const many = (count: number, of: (index: number) => string, between = '\n') =>
  Array.from({ length: count }, (_, index) => of(index)).join(between)
const yaml = (text: string) => () => parseDocuments(FILE, Buffer.from(text))
const built = (files: Record<string, string>) => () => build(treeOf(files), '', '')
const pattern = (text: string) => () => compilePattern(text)
const named = (name: string) =>
  built({
    'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {name: '${name}'}\n  patch: '[{"op":"add","path":"/data","value":{"a":"b"}}]'\n`,
    'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n',
  })

/** Codes of the errors where dev-team's repository has these files as well. */
function errorsOf(dev: Record<string, string>): string[] {
  const { verdict } = evaluationOf(miniFleet({ dev }), { base: miniFleet() })
  return verdict.errors.map(({ code, tenant }) => `${code} ${tenant}`)
}
const OF_TENANT = ['render-limits dev-team']

/** Directories with so many empty ones in each. */
function wideTree(sizes: Readonly<Record<string, number>>): Tree {
  const entry = (path: string): TreeEntry => ({
    path,
    name: path.slice(path.indexOf('/') + 1),
    type: 'directory',
    id: '',
  })
  return {
    id: '',
    entry: path => (/\.ya?ml$|Kustomization$/.test(path) ? undefined : entry(path)),
    list: path => Array.from({ length: sizes[path] ?? 0 }, (_, index) => entry(`${path}/${index}`)),
    read: () => Buffer.alloc(0),
  }
}

/** One file of so many bytes. */
function largeTree(path: string, size: number, start = ''): Tree {
  const bytes = Buffer.alloc(size, ' ')
  bytes.write(start)
  const entry: TreeEntry = { path, name: path, type: 'file', id: '' }
  return {
    id: '',
    entry: asked => (asked === path ? entry : undefined),
    list: directory => (directory === '' ? [entry] : []),
    read: () => bytes,
  }
}

const devNode = (): FleetNode => fleetOf(miniFleet()).nodes.find(({ tenant }) => tenant === 'dev-team')!

const release = (spec: string) =>
  withResource(
    `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h, namespace: apps}\nspec: {interval: 5m, serviceAccountName: dev-team, chart: {spec: {chart: x, version: 1.0.0, sourceRef: {kind: HelmRepository, name: c}}}, ${spec}}`,
  )

function findingsPast(of: 'part' | 'tenant', limit: number): void {
  const found = emptyFound(of).findings
  const finding = { tenant: 'dev-team', cluster: 'staging', node: 'n', fingerprint: 'f', origin: ORIGIN } as Finding
  for (let count = 0; count < limit; count++) found.add(finding)
  expect(found.failures()).toEqual([])
  found.add(finding)
  expect(found.failures()).toMatchObject([{ code: 'render-limits', tenant: 'dev-team' }])
}

/** By row of the table of limits: goes one past the limit, and expects the refusal. */
export const PAST_LIMITS: Readonly<Record<string, () => void | Promise<void>>> = {
  'src/kube/capabilities/embedded-objects.ts MAX_DEPTH': () => {
    const nest = (depth: number): object =>
      depth === 0
        ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner', namespace: 'apps' } }
        : {
            apiVersion: 'fluxcd.controlplane.io/v1',
            kind: 'ResourceSet',
            metadata: { name: `r${depth}`, namespace: 'apps' },
            spec: { serviceAccountName: 'dev-team', resources: [nest(depth - 1)] },
          }
    const errors = (depth: number) => errorsOf(withResource(JSON.stringify(nest(depth))))
    expect(errors(4)).toEqual([])
    expect(errors(5)).toEqual(['embedded-content dev-team'])
  },
  'src/kube/yaml/parse-documents.ts MAX_FILE_BYTES': () => {
    const text = (size: number) => () => decodeText(FILE, Buffer.alloc(size, 'a'))
    passes(text(8 * MIB), text(8 * MIB + 1))
  },
  'src/kube/yaml/scan-text.ts LONGEST': () => {
    const comment = (length: number) => yaml(`a: b\n# {${' '.repeat(length - 2)}}\nc: d\n`)
    passes(comment(10_000), comment(10_001), /^yaml-ambiguous/)
  },
  'src/kube/yaml/cursor.ts YAML_LIMITS': () => {
    const list = (count: number) => `[${many(count, () => 'x', ',')}]\n`
    const aliases = (count: number) => yaml(`a: &a x\nb: [${many(count, () => '*a', ', ')}]\n`)
    const copies = (size: number) =>
      yaml(`a: &a [${many(size, () => 'x', ',')}]\nb: [${many(999, () => '*a', ', ')}]\n`)
    const cases: Readonly<Record<keyof typeof YAML_LIMITS, readonly [() => unknown, () => unknown]>> = {
      fileTokens: [yaml(`---\n${list(100_000)}`.repeat(2)), yaml(`---\n${list(100_000)}`.repeat(3))],
      documentTokens: [yaml(list(120_000)), yaml(list(130_000))],
      documents: [yaml('---\na: 1\n'.repeat(5_000)), yaml('---\na: 1\n'.repeat(5_001))],
      depth: [yaml(`${'['.repeat(100)}${']'.repeat(100)}`), yaml(`${'['.repeat(101)}${']'.repeat(101)}`)],
      aliases: [aliases(1_000), aliases(1_001)],
      expanded: [copies(190), copies(201)],
    }
    for (const [what, [at, past]] of Object.entries(cases)) {
      passes(at, past, new RegExp(`^render-limits: .*: more than ${YAML_LIMITS[what as keyof typeof cases]} `))
    }
  },
  'src/kustomize/pipeline/scan.ts MAX_DEPTH': () => {
    const chain = (levels: number) =>
      built({
        'kustomization.yaml': 'resources: [l1]\n',
        ...Object.fromEntries(
          Array.from({ length: levels }, (_, index) => [
            `l${index + 1}/kustomization.yaml`,
            index + 1 < levels ? `resources: [../l${index + 2}]\n` : 'resources: []\n',
          ]),
        ),
      })
    passes(chain(50), chain(51), /^render-limits: more than 50 nested directories/)
  },
  'src/kustomize/build-budget.ts LIMITS': () => {
    const all: Readonly<Record<keyof BuildCost, true>> = {
      directories: true,
      objects: true,
      bytes: true,
      steps: true,
      values: true,
    }
    for (const what of Object.keys(all) as (keyof BuildCost)[]) {
      const limit = new BuildBudget().allowance.limit(what)
      const spend = (amount: number) => () => new BuildBudget().spend(what, amount, ORIGIN)
      passes(spend(limit), spend(limit + 1), new RegExp(`^render-limits: .* ${limit} ${what}$`))
    }
    const objects = (count: number) => {
      const maps = (file: number) =>
        many(count / 5, i => `---\n{apiVersion: v1, kind: A, metadata: {name: n${file}-${i}}}`)
      const files = Array.from({ length: 5 }, (_, file) => [`f${file}.yaml`, maps(file)])
      return built({
        'kustomization.yaml': `resources: [${files.map(([name]) => name)}]\n`,
        ...Object.fromEntries(files),
      })
    }
    passes(objects(10_000), objects(10_005), /^render-limits: .* 10000 objects/)
  },
  'src/kustomize/build-budget.ts MAX_OBJECT': () => {
    const items = (count: number): Node => ({
      type: 'list',
      items: Array(count).fill(textNode('x', ORIGIN)),
      origin: ORIGIN,
    })
    // the object and its list are values, too
    const object = (values: number) => () => checkObjectSize(mapNode([['a', items(values - 2)]], ORIGIN), ORIGIN)
    passes(object(199_999), object(200_001))
  },
  'src/kustomize/pipeline/generate-object.ts MAX_LINE': () => {
    const line = (length: number) => () => readEnvFile(Buffer.from(`A=${'x'.repeat(length - 2)}\nB=1\n`), ORIGIN)
    passes(line(65_000), line(65_001), /^kustomize-unsupported/)
  },
  'src/expr/regexp/compile-pattern.ts MAX_SIZE': () => {
    const states = (count: number) => `(?:a{500}){2}(b|c){200}${'a'.repeat(count - 1_608)}`
    passes(pattern(states(2_100)), pattern(states(2_101)), /too many parts/)
    expect(outcome(named(states(2_101)))).toMatch(/^kustomize-unsupported/)
  },
  'src/expr/regexp/compile-pattern.ts MAX_COPIES': () => {
    passes(named('a{1000}'), named('a{1001}'), /^kustomize-invalid/)
    passes(named('(?:a{500}){2}'), named('(?:(?:a{10}){67}){2}'), /^kustomize-invalid/)
  },
  'src/expr/regexp/compile-pattern.ts MAX_LENGTH': () => {
    // the anchors around it count, too; a name that is plain text is no pattern
    const star = (length: number) => named(`a*${'a'.repeat(length - 2 - '^(?:)$'.length)}`)
    passes(star(2_000), star(2_001), /^kustomize-unsupported: .*more than 2000 characters/)
  },
  'src/tenants/onboard/tenant-form.ts LONGEST': () => {
    const form =
      '### Tenant\n\nops-team\n\n### Repository\n\nacme/ops-team\n\n### Namespaces\n\nops\n\n### Clusters\n\nstaging\n\n### Role\n\nadmin\n\n### Notes\n\n'
    const issue = (length: number) => () => readTenantForm(form.padEnd(length, 'x'), 'github.com')
    passes(issue(20_000), issue(20_001), /^onboard-input: the issue has more than 20000 characters/)
  },
  'src/rules/git/repository-files.ts MAX_ATTRIBUTES': () => {
    const line = (count: number) => () => readAttributes(`*${' a'.repeat(count)}\n`)
    passes(line(200_000), line(200_001))
  },
  'src/rules/git/repository-files.ts MAX_STEPS': () => {
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`deploy/f/${'a'.repeat(100)}${i}.txt`, '']),
    )
    const lines = (count: number) => ({ ...files, '.gitattributes': many(count, i => `*a*a*b${i}z filter=x\n`, '') })
    expect(errorsOf(lines(1))).toEqual([])
    expect(errorsOf(lines(2_000))).toEqual(OF_TENANT)
  },
  'src/rules/git/rendered-tree.ts MAX_PATHS': () => {
    // the directory itself is one of them
    const walk = (count: number) => () => [
      ...namedPaths(wideTree({ a: count - 1 }), '', [{ path: 'a', origin: ORIGIN }], () => true),
    ]
    passes(walk(200_000), walk(200_001), /^render-limits: .* more than 200000 paths/)
  },
  'src/rules/kustomize/escaping-paths.ts MAX_PATHS': () => {
    const node = devNode()
    const index = {
      directoriesOf: () => ({ holders: new Map([['z', new Set(['ops-team'])]]) }),
      node: () => undefined,
    } as unknown as FleetIndex
    const breaches = (last: number) => {
      const nodes = ['a', 'b', 'c'].map(path => ({ ...node, path }))
      const tree = wideTree({ a: 199_999, b: 199_999, c: last - 1 })
      return [...sharedPaths({ url: '', tree, nodes } as unknown as Parameters<typeof sharedPaths>[0], index)]
    }
    expect(breaches(100_000)).toEqual([])
    expect(breaches(100_001)).toMatchObject([{ level: 'error', code: 'render-limits' }])
  },
  'src/rules/secrets/sops-files.ts MAX_BYTES': () => {
    const documents = (size: number) => () => [...encryptedDocuments(largeTree('a.yaml', size, 'sops: {}\n'), '')]
    passes(documents(32 * MIB), documents(32 * MIB + 1))
  },
  'src/rules/secrets/plaintext-secret.ts MAX_BYTES': () => {
    const node = devNode()
    const found = (size: number, path = './') => {
      const repository = { url: '', tree: largeTree('a.yaml', size), nodes: [{ ...node, path }] }
      return [...secretsInFiles(repository as unknown as Parameters<typeof secretsInFiles>[0])]
    }
    expect(found(64 * MIB)).toEqual([])
    expect(found(64 * MIB + 1)).toMatchObject([{ level: 'error', code: 'render-limits' }])
    // beside what is deployed it blocks nobody
    expect(found(64 * MIB + 1, './apps')).toMatchObject([{ level: 'warning' }])
  },
  'src/verdict/assess.ts MAX_OF_PART': () => findingsPast('part', 5_000),
  'src/verdict/assess.ts MAX_OF_TENANT': () => findingsPast('tenant', 20_000),
  'src/rules/workloads/helm-values.ts MAX_ACCOUNTS': () => {
    const accounts = (count: number) =>
      release(`values: {${many(count, i => `k${i}: {serviceAccountName: a${i}}`, ', ')}}`)
    expect(errorsOf(accounts(1_000))).toEqual([])
    expect(errorsOf(accounts(1_001))).toEqual(OF_TENANT)
  },
  'src/rules/workloads/helm-values.ts MAX_TARGET': () => {
    const target = (length: number) =>
      errorsOf(release(`valuesFrom: [{kind: ConfigMap, name: c, targetPath: ${'a'.repeat(length)}}]`))
    expect(target(1_000)).not.toContain(OF_TENANT[0])
    expect(target(1_001)).toContain(OF_TENANT[0])
  },
}

/** By row: the test that goes past the limit already. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'src/fleet/facts/cluster-rights.ts MAX_ENTRIES':
    'test/rules/no-silent-limits.test.ts › aggregated ClusterRoles beyond the limit are the error of the tenant',
}
