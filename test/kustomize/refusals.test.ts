import { describe, expect, test } from 'vitest'
import { openSnapshot, packSnapshot, type SnapshotFile } from '../../src/git/tree.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'

/** `code rule @file:line` of the refusal of a root kustomization.yaml. */
function refusal(kustomization: string, others: readonly SnapshotFile[] = []): string {
  const files = [
    { path: 'kustomization.yaml', content: kustomization },
    { path: 'a.yaml', content: CONFIG_MAP },
    ...others,
  ]
  return refusalAt(() => build(openSnapshot(packSnapshot(files)), '', ''))
}

test('what is allowed builds', () => {
  expect(refusal('resources:\n- a.yaml\n')).toBe('done')
})

describe('a value that kustomize would fetch is a violation at its line', () => {
  const remote = [
    'https://github.com/evil/x?ref=main',
    'github.com/evil/x//d',
    'git@github.com:evil/x',
    'git::https://e/x',
    'gh:evil/x',
    'HTTP://e/x.yaml',
    'Https://e/x.yaml',
    'ssh://git@host/x',
    'file:///etc',
    'someone@host.example:x/y.git',
    'GitHub.com/evil/x',
    'GIT::ssh://x/y',
    'git@[::1]:x/y',
    'git@b\u00fccher.example:x/y',
    'u@a b/x/y',
  ]
  for (const value of remote) {
    test(value, () => {
      expect(refusal(`resources:\n- a.yaml\n- "${value}"\n`)).toBe(
        'kustomize-unsupported kustomize-remote-base @kustomization.yaml:3',
      )
    })
  }
  const fields = {
    bases: '- http://h/x',
    components: '- http://h/x',
    crds: '- http://h/x',
    configurations: '- http://h/x',
    generators: '- http://h/x',
    transformers: '- http://h/x',
    validators: '- http://h/x',
    patchesStrategicMerge: '- http://h/x',
    patches: '- path: http://h/x',
    patchesJson6902: '- path: http://h/x',
    replacements: '- path: http://h/x',
    Resources: '- http://h/x',
    configMapGenerator: '- files: [k=http://h/x]',
    secretGenerator: '- envs: [http://h/x]',
  }
  for (const [field, item] of Object.entries(fields)) {
    test(field, () => {
      const text = `namespace: x\n${field}:\n${item}\n`
      expect(refusal(text)).toBe('kustomize-unsupported kustomize-remote-base @kustomization.yaml:3')
    })
  }
  test('openapi', () => {
    expect(refusal('openapi:\n  path: http://h/x\n')).toBe(
      'kustomize-unsupported kustomize-remote-base @kustomization.yaml:2',
    )
  })
  test('in a base below an overlay that would fail first', () => {
    const base = { path: 'base/kustomization.yaml', content: 'resources:\n- https://h/x\n' }
    expect(refusal('resources:\n- missing.yaml\n- base\n', [base])).toBe(
      'kustomize-unsupported kustomize-remote-base @base/kustomization.yaml:2',
    )
  })
})

describe('paths', () => {
  test('out of the repository', () => {
    expect(refusal('resources:\n- ../../etc\n')).toBe('kustomize-invalid kustomize-path-escape @kustomization.yaml:2')
    expect(refusal('resources:\n- /etc/passwd\n')).toBe('kustomize-invalid kustomize-path-escape @kustomization.yaml:2')
    expect(refusal('resources: [a.yaml]\npatches:\n- path: ../x\n')).toBe(
      'kustomize-invalid kustomize-path-escape @kustomization.yaml:3',
    )
  })
  test('through a symlink, to a file and to a directory', () => {
    const link = { path: 'link', mode: '120000', content: '/etc' } as const
    const expected = 'kustomize-unsupported kustomize-symlink @kustomization.yaml:2'
    expect(refusal('resources:\n- link\n', [link])).toBe(expected)
    expect(refusal('resources:\n- link/passwd\n', [link])).toBe(expected)
  })
  test('two kustomization files', () => {
    const second = { path: 'kustomization.yml', content: 'resources: []\n' }
    expect(refusal('resources: []\n', [second])).toBe('kustomize-multiple-files @kustomization.yml:1')
  })
})

describe('fields', () => {
  const cases = {
    'kind: Component\napiversion: kustomize.config.k8s.io/v1beta1\n':
      'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:2',
    'apiversion: kustomize.config.k8s.io/v1beta1\nAPIVERSION: kustomize.config.k8s.io/v1beta1\n':
      'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:1',
    'Kind: Component\nnamespace: a\n': 'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:1',
    'namespace: a\nNamespace: b\n': 'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:2',
    're\u017fources: []\n': 'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:1',
    'resources: [a.yaml]\nhelmCharts:\n- name: x\n':
      'kustomize-unsupported kustomize-helm-inflate @kustomization.yaml:2',
    'resources: [a.yaml]\nvalidators:\n- x.yaml\n': 'kustomize-unsupported kustomize-plugin @kustomization.yaml:3',
    'resources: [a.yaml]\ntransformers:\n- a.yaml\n': 'kustomize-unsupported kustomize-plugin @a.yaml:1',
    'resources: [a.yaml]\nunknown: x\n': 'kustomize-unsupported @kustomization.yaml:2',
    'resources: [a.yaml]\nnamespace: on\n': 'kustomize-invalid @kustomization.yaml:2',
    'resources: [a.yaml]\nnamespace: 0o7\n': 'kustomize-invalid @kustomization.yaml:2',
    'resources: a.yaml\n': 'kustomize-invalid @kustomization.yaml:1',
    'resources: [a.yaml]\npatches:\n- Path: x\n':
      'kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:3',
    'resources: [a.yaml]\nlabels:\n- pairs: {a: b}\n  field: []\n': 'kustomize-unsupported @kustomization.yaml:4',
    'resources: [a.yaml]\nresources: []\n': 'yaml-ambiguous @kustomization.yaml:2',
    'kind: Other\nresources: [a.yaml]\n': 'kustomize-invalid @kustomization.yaml:1',
  }
  for (const [text, expected] of Object.entries(cases)) {
    test(JSON.stringify(text), () => {
      expect(refusal(text)).toBe(expected)
    })
  }
})

describe('patterns of targets', () => {
  const patched = (name: string): string =>
    refusal(
      `resources: [a.yaml]\npatches:\n- target: {name: "${name}"}\n  patch: |\n    {kind: ConfigMap, metadata: {name: x}}\n`,
    )
  test('a pattern that is slow elsewhere is decided at once', () => {
    const before = process.cpuUsage().user
    expect(patched('(a*)*(a|a)*(.*)*b')).toBe('done')
    expect(process.cpuUsage().user - before).toBeLessThan(500_000)
  })
  test('Go takes a name of a group twice', () => {
    expect(patched('(?<a>b)(?<a>b)')).toBe('done')
  })
  test('what Go does not compile is an error at its line', () => {
    for (const name of ['a(?=b)', '(', '\\\\1', '[[:alhpa:]]', 'a{1001}', '(a{40}){40}', 'a**', '\\\\Z']) {
      expect(patched(name), name).toBe('kustomize-invalid @kustomization.yaml:3')
    }
  })
  test('classes that releases of Go know or do not, and very large patterns are refused', () => {
    for (const name of ['\\\\p{Greek}', '\\\\p{LC}', '(a{20}){49}(b{40}){25}(c{40}){25}']) {
      expect(patched(name), name).toBe('kustomize-unsupported @kustomization.yaml:3')
    }
  })
})

test('diamonds of directories end at a limit', () => {
  const files: SnapshotFile[] = []
  for (let level = 0; level < 20; level++) {
    const next = `../l${level + 1}`
    files.push({ path: `l${level}/kustomization.yaml`, content: `resources: [${next}, ${next}/../l${level + 1}]\n` })
  }
  files.push({ path: 'l20/kustomization.yaml', content: 'resources: []\n' })
  expect(refusal('resources: [l0]\n', files)).toMatch(/^render-limits/)
})
