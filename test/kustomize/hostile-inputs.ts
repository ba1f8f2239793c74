import { HOSTILE_YAML } from './hostile-yaml.ts'

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
const BASE = { 'kustomization.yaml': 'resources: [a.yaml]\n', 'a.yaml': CONFIG_MAP }

/** Input that a tenant may send to bring a renderer down: files by path, and the code that must come of it. */
interface Hostile {
  readonly files: () => Record<string, string>
  readonly code: string
}

const manifest = (text: () => string, code: string): Hostile => ({
  files: () => ({ ...BASE, 'a.yaml': CONFIG_MAP + text() }),
  code,
})

const target = (pattern: string, name: string, code: string): Hostile => ({
  files: () => ({
    'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {name: '${pattern}'}\n  patch: '[{"op":"add","path":"/data","value":{"a":"b"}}]'\n`,
    'a.yaml': CONFIG_MAP.replace('name: a', `name: ${name}`),
  }),
  code,
})

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('')

/** Objects of which none has many fields. */
const maps = (count: number): string =>
  lines(count, i => `---\n${CONFIG_MAP.replace('name: a', `name: c${i}`)}data: {a: b}\n`)

const path = (i: number): string => `    fieldPaths: [data.p${i}]\n    options: {create: true}\n`
const paths = (count: number): string =>
  `  - select: {kind: ConfigMap}\n    fieldPaths:\n${lines(count, i => `    - data.p${i}\n`)}    options: {create: true}\n`

const replacement = (objects: number, targets: () => string, code: string): Hostile => ({
  files: () => ({
    'kustomization.yaml': `resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: c0, fieldPath: data.a}\n  targets:\n${targets()}`,
    'a.yaml': maps(objects),
  }),
  code,
})

const chain = (count: number, entries: (next: string) => string): Hostile['files'] => {
  return () => ({
    'kustomization.yaml': 'resources: [l0]\n',
    ...Object.fromEntries(
      Array.from({ length: count }, (_, level) => [`l${level}/kustomization.yaml`, entries(`../l${level + 1}`)]),
    ),
    [`l${count}/kustomization.yaml`]: 'resources: []\n',
  })
}

const bomb = (levels: number, width: number, open: string, close: string): string =>
  `b0: &b0 ${open}x${close}\n${lines(levels, level => {
    const items = Array.from({ length: width }, () => `*b${level}`).join(', ')
    return `b${level + 1}: &b${level + 1} [${items}]\n`
  })}`

/** By what it tries. */
export const HOSTILE: Readonly<Record<string, Hostile>> = {
  ...Object.fromEntries(Object.entries(HOSTILE_YAML).map(([name, [text, code]]) => [name, manifest(text, code)])),
  'an alias bomb': manifest(() => bomb(9, 9, '[', ']'), 'render-limits'),
  'an alias bomb, 2^30': manifest(() => bomb(30, 2, '[', ']'), 'render-limits'),
  'an alias bomb of large texts': manifest(() => bomb(4, 9, `["${'x'.repeat(100_000)}`, '"]'), 'render-limits'),
  'an alias of itself': manifest(() => 'a: &a [*a]\n', 'yaml-syntax'),
  'merge keys that multiply': manifest(
    () => `m0: &m0 {k: v}\n${lines(900, i => `m${i + 1}: &m${i + 1} {<<: *m${i}, k${i}: v}\n`)}`,
    'render-limits',
  ),
  '20,000 nested brackets': manifest(() => `x: ${'['.repeat(20_000)}`, 'render-limits'),
  '20,000 closed brackets': manifest(() => `x: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`, 'render-limits'),
  '20,000 nested braces': manifest(() => `x: ${'{a: '.repeat(20_000)}`, 'render-limits'),
  '20,000 nested dashes': manifest(() => `x:\n ${'- '.repeat(20_000)}a\n`, 'render-limits'),
  'a staircase of 3,000 maps': manifest(() => lines(3_000, i => `${' '.repeat(i)}k:\n`), 'render-limits'),
  'a file of 50 MB': manifest(() => 'x: y\n'.repeat(10_000_000), 'render-limits'),
  '200,000 objects in one file': {
    files: () => ({
      ...BASE,
      'a.yaml': lines(200_000, i => `---\n{kind: A, apiVersion: b, metadata: {name: n${i}}}\n`),
    }),
    code: 'render-limits',
  },
  '200,000 objects in one list': {
    files: () => ({
      ...BASE,
      'a.yaml': `kind: List\napiVersion: v1\nitems:\n${lines(200_000, i => `- {kind: A, metadata: {name: n${i}}}\n`)}`,
    }),
    code: 'render-limits',
  },
  '200,000 objects in many files': {
    files: () => ({
      'kustomization.yaml': `resources:\n${lines(50, i => `- f${i}.yaml\n`)}`,
      ...Object.fromEntries(
        Array.from({ length: 50 }, (_, f) => [
          `f${f}.yaml`,
          lines(4_000, i => `---\nkind: A\napiVersion: b/v1\nmetadata:\n  name: n${f}-${i}\n`),
        ]),
      ),
    }),
    code: 'render-limits',
  },
  '200,000 entries of resources': {
    files: () => ({ ...BASE, 'kustomization.yaml': `resources:\n${'- a.yaml\n'.repeat(200_000)}` }),
    code: 'render-limits',
  },
  '50,000 copies of a component': {
    files: () => ({
      ...BASE,
      'kustomization.yaml': `resources: [a.yaml]\ncomponents:\n${'- c\n'.repeat(50_000)}`,
      'c/kustomization.yaml': 'kind: Component\nlabels: [{pairs: {a: b}}]\n',
    }),
    code: 'render-limits',
  },
  '20,000 patches': {
    files: () => ({
      ...BASE,
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n${lines(20_000, i => `- patch: '{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {k${i}: v}}'\n`)}`,
    }),
    code: 'render-limits',
  },
  'a line of 10^6 characters': manifest(() => `data:\n  x: ${'y'.repeat(1_000_000)}\n`, 'built'),
  'a line of 10^6 spaces': manifest(() => `data:\n  x: y${' '.repeat(1_000_000)}\n`, 'built'),
  'a quoted line of 10^6 escapes': manifest(() => `data:\n  x: "${'\\n'.repeat(1_000_000)}"\n`, 'built'),
  'a comment of 10^6 braces': manifest(() => `# ${'{'.repeat(1_000_000)}\n`, 'built'),
  'a key of 10^6 digits': manifest(() => `${'9'.repeat(1_000_000)}: x\n`, 'yaml-syntax'),
  'a number of 10^6 digits': manifest(() => `x: ${'9'.repeat(1_000_000)}\n`, 'built'),
  'a hexadecimal number of 10^6 digits': manifest(() => `x: 0x${'f'.repeat(1_000_000)}\n`, 'built'),
  'a number of 10^6 underscores': manifest(() => `x: 1${'_'.repeat(1_000_000)}\n`, 'built'),
  '200,000 characters that turn the text around': manifest(() => `# ${'\u202e'.repeat(200_000)}\n`, 'built'),
  'a prefix of 200,000 parts': {
    files: () => ({
      'kustomization.yaml': `namePrefix: '${','.repeat(200_000)}'\nresources: [a.yaml]\n`,
      'a.yaml': CONFIG_MAP,
    }),
    code: 'built',
  },
  '30,000 keys': manifest(() => lines(30_000, i => `k${i}: v\n`), 'built'),
  '100,000 keys': manifest(() => lines(100_000, i => `k${i}: v\n`), 'render-limits'),
  '100,000 blank lines in a folded text': manifest(() => `x: >\n  a${'\n'.repeat(100_000)}  b\n`, 'built'),
  'a slow pattern': target('(a*)*(a|a)*(.*)*b', 'a'.repeat(200), 'built'),
  'a slow pattern on a long name': target('(a|aa)+(a|aa)+(a|aa)+b', 'a'.repeat(100_000), 'built'),
  'a pattern of 10^5 parts': target('a?'.repeat(100_000), 'a', 'kustomize-unsupported'),
  'a pattern of 10^5 brackets': target('('.repeat(100_000), 'a', 'kustomize-unsupported'),
  'a large pattern for 9,000 long names': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {name: '(a|a){0,400}b'}\n  patch: '[]'\n`,
      'a.yaml': lines(9_000, i => `---\n${CONFIG_MAP.replace('name: a', `name: ${'a'.repeat(200)}${i}`)}`),
    }),
    code: 'render-limits',
  },
  'a pattern of nested repetitions': target('((((a{1,30}){1,30}){1,30}){1,30}){1,30}', 'a', 'kustomize-invalid'),
  'a base that is its own': { files: () => ({ 'kustomization.yaml': 'resources: [.]\n' }), code: 'render-limits' },
  'bases in a circle': {
    files: () => ({
      'kustomization.yaml': 'resources: [a]\n',
      'a/kustomization.yaml': 'resources: [../a/../../x/..]\n',
    }),
    code: 'kustomize-invalid',
  },
  '2^20 diamonds': { files: chain(20, next => `resources: [${next}, ${next}/.]\n`), code: 'render-limits' },
  '2^20 diamonds of components': {
    files: chain(20, next => `kind: Component\ncomponents: [${next}, ${next}/.]\n`),
    code: 'kustomize-invalid',
  },
  'a chain of 5,000 bases': { files: chain(5_000, next => `resources: [${next}]\n`), code: 'render-limits' },
  'a JSON patch that doubles the object 30 times': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: add, path: /x, value: {a: b}}\n${lines(30, i => `    - {op: copy, from: /x, path: /x/c${i}}\n`)}`,
      'a.yaml': CONFIG_MAP,
    }),
    code: 'render-limits',
  },
  'a JSON patch of 10,000 edits of 10,000 fields': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n${lines(10_000, i => `    - {op: replace, path: /data/f${i}, value: z}\n`)}`,
      'a.yaml': `${CONFIG_MAP}data:\n${lines(10_000, i => `  f${i}: x\n`)}`,
    }),
    code: 'built',
  },
  'a JSON patch that removes 10,000 of 20,000 fields': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n${lines(10_000, i => `    - {op: remove, path: /data/f${i}}\n`)}`,
      'a.yaml': `${CONFIG_MAP}data:\n${lines(20_000, i => `  f${i}: x\n`)}`,
    }),
    code: 'built',
  },
  'a JSON patch that tests a large map 10,000 times': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n${lines(10_000, () => '    - {op: test, path: /data/f0, value: x}\n')}`,
      'a.yaml': `${CONFIG_MAP}data:\n${lines(20_000, i => `  f${i}: x\n`)}`,
    }),
    code: 'render-limits',
  },
  'a JSON patch that moves an item of a long list 10,000 times': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\npatches:\n- target: {kind: Foo}\n  patch: |\n${lines(10_000, () => '    - {op: move, from: /spec/l/0, path: /spec/l/19999}\n')}`,
      'a.yaml': `apiVersion: x/v1\nkind: Foo\nmetadata: {name: a}\nspec: {l: [${'0,'.repeat(20_000)}]}\n`,
    }),
    code: 'render-limits',
  },
  'replacements of every item of 200 lists': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\nreplacements:\n${lines(100, () => '- source: {kind: Foo, name: n0, fieldPath: metadata.name}\n  targets: [{select: {kind: Foo}, fieldPaths: ["spec.l.*.i"]}]\n')}`,
      'a.yaml': lines(
        200,
        i => `---\napiVersion: x/v1\nkind: Foo\nmetadata: {name: n${i}}\nspec: {l: [${'{i: a},'.repeat(100)}]}\n`,
      ),
    }),
    code: 'render-limits',
  },
  'a replacement of 1,500 paths in 100 objects': replacement(100, () => paths(1_500), 'built'),
  'a replacement of 1,500 paths in 2,000 objects': replacement(2_000, () => paths(1_500), 'render-limits'),
  'a replacement of 300 targets with 100 rejections': replacement(
    2_000,
    () =>
      lines(
        300,
        i => `  - select: {kind: ConfigMap}\n    reject:\n${lines(100, r => `    - {name: z${r}}\n`)}${path(i)}`,
      ),
    'render-limits',
  ),
  '1,500 labels of 1,500 objects': {
    files: () => ({
      'kustomization.yaml': `resources: [a.yaml]\nlabels:\n- pairs:\n${lines(1_500, i => `    l${i}: x\n`)}`,
      'a.yaml': maps(1_500),
    }),
    code: 'render-limits',
  },
  'keys that belong to JavaScript': manifest(
    () => '__proto__: {a: b}\nconstructor: {prototype: {a: b}}\ntoString: x\nhasOwnProperty: y\n',
    'built',
  ),
}
