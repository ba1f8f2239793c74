import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { git, repository, run, scratch, write } from './run-main.ts'

const URL = 'https://github.com/acme/plain'

const object = (apiVersion: string, kind: string, name: string, spec: string, namespace = 'flux-system') =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\n${spec}\n`

const SOURCE = object(
  'source.toolkit.fluxcd.io/v1',
  'GitRepository',
  'flux-system',
  `spec: {interval: 1m, url: ${URL}, ref: {branch: main}}`,
)
const kustomization = (name: string, path: string, more = 'prune: true') =>
  object(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    name,
    `spec: {interval: 5m, path: ${path}, sourceRef: {kind: GitRepository, name: flux-system}, ${more}}`,
  )
const configMap = (name: string, value: string) =>
  object('v1', 'ConfigMap', name, `data: {value: "${value}"}`, 'default')
const INSTANCE = object(
  'fluxcd.controlplane.io/v1',
  'FluxInstance',
  'flux',
  `spec:
  distribution: {version: 2.x, registry: ghcr.io/fluxcd}
  components: [source-controller, kustomize-controller]
  sync: {kind: GitRepository, url: ${URL}, ref: refs/heads/main, path: clusters/b, interval: 1m}`,
)

/** Two clusters: one by flux bootstrap, one by a FluxInstance. */
const FILES = {
  'clusters/a/flux-system/gotk-sync.yaml': `${SOURCE}---\n${kustomization('flux-system', './clusters/a')}`,
  'clusters/a/apps.yaml': kustomization('apps', './apps'),
  'clusters/b/flux-system/flux-instance.yaml': INSTANCE,
  'clusters/b/apps.yaml': kustomization('apps', './apps'),
  'apps/one.yaml': configMap('one', '1'),
  'apps/two.yaml': configMap('two', '2'),
}

/** What `check --base` prints about a change of these files; null: the file goes. */
async function checked(files: Record<string, string | null>, ...args: string[]) {
  const directory = repository(join(scratch(), 'fleet'), FILES, URL)
  for (const [path, text] of Object.entries(files)) {
    if (text === null) git(directory, 'rm', '--quiet', path)
    else write(directory, { [path]: text })
  }
  return run(directory, 'check', '--base', 'HEAD', ...args)
}

const replaced = (path: keyof typeof FILES, from: string, to: string) => ({ [path]: FILES[path].replace(from, to) })

/** Changes without a finding, and the lines that name each. */
const CHANGES: Record<string, readonly [files: Record<string, string | null>, ...lines: string[]]> = {
  'a field of an object': [
    { 'apps/one.yaml': configMap('one', 'other') },
    'changes: 2 Kustomizations; objects: 2 changed',
    '  ~ Kustomization flux-system/apps on a, b: 1 changed',
    '    ~ ConfigMap default/one: data.value',
  ],
  'an object that comes': [
    { 'apps/three.yaml': configMap('three', '3') },
    '  ~ Kustomization flux-system/apps on a, b: 1 added',
    '    + ConfigMap default/three',
  ],
  'an object that goes': [
    { 'apps/two.yaml': null },
    '  ~ Kustomization flux-system/apps on a, b: 1 removed (1 DELETED)',
    '    - ConfigMap default/two: will be DELETED',
  ],
  'suspend: true': [
    replaced('clusters/a/apps.yaml', 'prune: true', 'prune: true, suspend: true'),
    '  ~ Kustomization flux-system/apps on a: suspended: Flux applies these changes only after it is resumed',
    '    ~ Kustomization flux-system/apps: spec.suspend',
  ],
  'prune: false': [
    replaced('clusters/a/apps.yaml', 'prune: true', 'prune: false'),
    '  ~ Kustomization flux-system/apps on a: prune is off',
    '    ~ Kustomization flux-system/apps: spec.prune',
  ],
  'the interval of a source': [
    replaced('clusters/a/flux-system/gotk-sync.yaml', 'interval: 1m', 'interval: 9m'),
    '  ~ Kustomization flux-system/flux-system on a: 1 changed',
    '    ~ GitRepository flux-system/flux-system: spec.interval',
  ],
  'a .sourceignore': [
    { '.sourceignore': 'apps/two.yaml\n' },
    '  ~ Kustomization flux-system/apps on a, b: 1 removed (1 DELETED)',
    '    - ConfigMap default/two: will be DELETED',
  ],
  'the registry of a FluxInstance': [
    replaced('clusters/b/flux-system/flux-instance.yaml', 'ghcr.io/fluxcd', 'evil.example.com'),
    '    ~ FluxInstance flux-system/flux: spec.distribution.registry',
  ],
  'the components of a FluxInstance': [
    replaced('clusters/b/flux-system/flux-instance.yaml', 'kustomize-controller]', 'helm-controller]'),
    '    ~ FluxInstance flux-system/flux: spec.components[1]',
  ],
  'the sync of a FluxInstance': [
    replaced('clusters/b/flux-system/flux-instance.yaml', 'interval: 1m', 'interval: 9m'),
    '    ~ FluxInstance flux-system/flux: spec.sync.interval',
  ],
  'the flags of controllers': [
    replaced('clusters/b/flux-system/flux-instance.yaml', '  sync:', '  cluster: {multitenant: true}\n  sync:'),
    '  ~ cluster b: multi-tenancy flags, controllers of Flux, Kustomization that it starts with',
  ],
  'a new Kustomization': [
    { 'clusters/a/more.yaml': kustomization('more', './more'), 'more/one.yaml': configMap('more', '1') },
    '  + Kustomization flux-system/more on a: added; 1 added',
    '    + ConfigMap default/more',
  ],
  'a Kustomization that goes': [
    { 'clusters/a/apps.yaml': null },
    '  - Kustomization flux-system/apps on a: removed; 2 removed (2 DELETED)',
    '    - ConfigMap default/one: will be DELETED',
  ],
}

describe('check --base lists what changes on the clusters', () => {
  test.each(Object.entries(CHANGES))('%s', async (_name, [files, ...lines]) => {
    const { stdout } = await checked(files)
    for (const line of lines) expect(stdout.split('\n')).toContain(line)
    expect(stdout).not.toContain('no rendered changes')
  })

  test('a file that nothing reads changes nothing', async () => {
    const { code, stdout } = await checked({ 'docs/README.md': 'x\n', '.gitignore': 'y\n' })
    expect([code, stdout.split('\n')]).toEqual([0, expect.arrayContaining(['changes: no rendered changes'])])
  })

  test('without a base nothing is compared', async () => {
    const directory = repository(join(scratch(), 'fleet'), FILES, URL)
    const [text, json] = [await run(directory, 'check'), await run(directory, 'check', '-o', 'json')]
    expect(text.stdout).not.toContain('changes:')
    expect(JSON.parse(json.stdout)).not.toHaveProperty('changes')
  })
})

describe('the list', () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`apps/more-${at}.yaml`, configMap(`more-${at}`, '1')]),
  )

  test('has twenty lines, and counts the rest', async () => {
    const { stdout } = await checked({ ...many, ...replaced('clusters/a/apps.yaml', '5m', '6m') })
    const lines = stdout.split('\n')
    const start = lines.findIndex(line => line.startsWith('changes: '))
    const end = lines.findIndex(line => line.startsWith('  … and 43 lines more'))
    expect([lines[start], end - start]).toEqual(['changes: 3 Kustomizations; objects: 120 added, 1 changed', 21])
  })

  test('names every Kustomization before the objects of any', async () => {
    const { stdout } = await checked({ ...many, ...replaced('clusters/a/apps.yaml', 'prune: true', 'prune: false') })
    expect(stdout.match(/^ {2}~ Kustomization .*$/gm)).toEqual([
      '  ~ Kustomization flux-system/apps on a: prune is off; 60 added',
      '  ~ Kustomization flux-system/flux-system on a: 1 changed',
      '  ~ Kustomization flux-system/apps on b: 60 added',
    ])
  })

  test('has all objects with their fields with --verbose', async () => {
    const { stdout } = await checked({ ...many, 'apps/one.yaml': configMap('one', 'new') }, '--verbose')
    expect(stdout).toContain('      -  data.value: "1"\n      +  data.value: new\n')
    expect(stdout.match(/^ {4}\+ ConfigMap default\/more-/gm)).toHaveLength(60)
    expect(stdout).not.toContain('more (--verbose')
  })

  test('is in the JSON as data', async () => {
    const { stdout } = await checked({ 'apps/one.yaml': configMap('one', 'new') }, '-o', 'json')
    const { changes } = JSON.parse(stdout)
    expect(changes.totals).toMatchObject({ changed: 2, added: 0 })
    expect(changes.nodes.map(({ node }: { node: string }) => node)).toEqual([
      'a/flux-system/apps',
      'b/flux-system/apps',
    ])
    expect(changes.nodes[0].objects).toEqual([
      expect.objectContaining({ change: 'changed', fields: [expect.objectContaining({ path: 'data.value' })] }),
    ])
  })

  test('is a notice of a workflow', async () => {
    const { stdout } = await checked({ 'apps/two.yaml': null }, '-o', 'github')
    expect(stdout).toMatch(/^::notice title=changes::changes: 2 Kustomizations; objects: 2 removed \(2 DELETED\)%0A/m)
  })

  test('has no value of a Secret', async () => {
    const secret = (value: string) => object('v1', 'Secret', 's', `stringData: {password: ${value}}`, 'default')
    const { stdout } = await checked({ 'apps/s.yaml': secret('hunter2') }, '--verbose')
    expect(stdout).toContain('    + Secret default/s\n')
    expect(stdout).not.toContain('hunter2')
  })

  test('shows what a name hides', async () => {
    const { stdout } = await checked({
      'apps/one.yaml': `${configMap('one', '1')}---\n${object('v1', 'ConfigMap', '"a\\u202eb\\nchanges: none"', 'data: {}', 'default')}`,
    })
    expect(stdout).toContain('    + ConfigMap default/a\\u{202e}b\\u{a}changes: none\n')
  })

  test('of one cluster counts what changes elsewhere', async () => {
    const change = { 'apps/two.yaml': null, ...replaced('clusters/b/apps.yaml', '5m', '6m') }
    const { stdout } = await checked(change, '--cluster', 'a')
    expect(stdout).toContain('  ~ Kustomization flux-system/apps on a: 1 removed (1 DELETED)\n')
    expect(stdout).toContain('\n  2 Kustomizations outside of the filter\n')
    const elsewhere = await checked(replaced('clusters/b/apps.yaml', '5m', '6m'), '--cluster', 'a')
    expect(elsewhere.stdout).toContain('changes: 1 Kustomization outside of the filter\n')
  })
})

test('the JSON of a change and of a filter is what docs/check.schema.json says', async () => {
  const schema = readFileSync(join(import.meta.dirname, '../../../docs/check.schema.json'), 'utf8')
  const valid = new Ajv({ allErrors: true, strict: false }).compile(JSON.parse(schema))
  for (const name of ['suspend: true', 'the flags of controllers', 'an object that goes']) {
    const { stdout } = await checked(CHANGES[name]![0], '-o', 'json', '--cluster', 'b')
    expect(valid(JSON.parse(stdout)), JSON.stringify(valid.errors)).toBe(true)
  }
})
