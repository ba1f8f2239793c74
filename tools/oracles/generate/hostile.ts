// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import fc from 'fast-check'
import type { Trial } from '../trial.ts'
import { Chance } from './chance.ts'
import { type Fields, pathsOf, type Value, valueAt } from './value.ts'
import { YamlText } from './yaml-text.ts'

/** What YAML reads as something else than a text where it stands without quotes, or cannot hold there. */
const WORDS =
  '<<|=|?|!!binary|~||0x1F|0o17|0644|1e3|1.0|12|1_000|.inf|2024-01-02|2024-01-02T03:04:05Z|y|No|on|true|NULL|null|12:30:45'.split(
    '|',
  )
const TEXTS = [
  ...WORDS,
  '#c',
  'a #b',
  '&a',
  '*a',
  '!x',
  '---',
  '--- a',
  '- a',
  'a: b',
  'a:',
  '? a',
  '{a: 1}',
  '[1]',
  '%x',
  '@x',
  '|',
  '"q"',
  "'q'",
  ' ',
  ' lead',
  'trail ',
  'a\tb',
  '\tx',
  '\tx\ny\n',
  'two\nlines\n',
  ' a\n b\n\nc',
  'a \nb\n',
  '\n',
  'a\n---\nb\n',
  'a\u0085b',
  'a\u2028b',
  '\ufeffx',
  'a\u007fb',
  'é \u{1f389}',
  '9007199254740993',
  '1000000',
  'x'.repeat(5000),
  'word '.repeat(60),
  `${'long '.repeat(20)}# no comment - ${'dash '.repeat(20)}`,
] as const
const PLAIN = ['x', 'web', 'a-b'] as const

const text = (chance: Chance): string => (chance.is(75) ? chance.pick(TEXTS) : chance.pick(PLAIN))
const key = (chance: Chance): string => (chance.is(65) ? chance.pick(WORDS) : text(chance))
/** A key that is set without quotes, where mostly only `<<` does not end the build. */
const bareKey = (chance: Chance): string => (chance.is(50) ? '<<' : chance.is(40) ? key(chance) : chance.pick(PLAIN))
const pairs = (chance: Chance): Fields => ({
  [chance.is(25) ? key(chance) : chance.pick(PLAIN)]: text(chance),
  ...chance.maybe(20, 'app', () => text(chance)),
})

/** A map below a key that may merge it, a list of such, or a text. */
function value(chance: Chance): Value {
  const map = (): Fields => ({
    ...chance.maybe(60, 'hostPID', () => true),
    ...chance.maybe(40, 'name', () => 'merged'),
    ...chance.maybe(40, key(chance), () => (chance.is(50) ? text(chance) : { [key(chance)]: { deep: text(chance) } })),
  })
  return chance.pick<() => Value>([
    map,
    map,
    map,
    () => [map(), map()],
    () => [],
    () => null,
    () => 1_000_000,
    () => text(chance),
    () => text(chance),
  ])()
}

/** A few objects; one of them holds something hostile. */
function objects(chance: Chance): Fields[] {
  const made: Fields[] = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: '1', b: 'x' } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'nginx:1', env: [{ name: 'A', value: 'x' }] }] },
        },
      },
    },
    {
      apiVersion: 'example.org/v1',
      kind: 'MyKind',
      metadata: { name: 'web', annotations: { note: 'x' } },
      spec: { from: { hostPID: true, inner: { a: 1 } }, text: 'x', number: 5, list: [{ name: 'a' }, { name: 'b' }] },
    },
  ]
  const kept = made.filter(({ kind }) => kind === 'MyKind' || chance.is(60))
  if (chance.is(45)) put(chance.pick(kept), chance)
  return kept
}

/** Puts something hostile into an object: under a new key or in the place of a text. */
function put(object: Fields, chance: Chance): void {
  const places = pathsOf(object).filter(path => path.length > 1 && path.join('.') !== 'metadata.name')
  const path = chance.pick(places)
  const parent = valueAt(object, path.slice(0, -1)) as Fields
  const old = valueAt(object, path)
  if (typeof old === 'object' && old !== null && !Array.isArray(old)) (old as Fields)[key(chance)] = value(chance)
  else if (!Array.isArray(parent)) parent[path.at(-1)!] = typeof old === 'string' ? text(chance) : value(chance)
}

interface Made {
  readonly objects: readonly Fields[]
  readonly chance: Chance
  readonly yaml: YamlText
}

const pointer = (path: readonly string[]): string =>
  path.map(part => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

function operations({ objects, chance }: Made): { patch: Value[]; target: Fields } {
  const aim = chance.pick(objects)
  const patch = chance.list(1, 2, (): Fields => {
    const path = chance.pick(pathsOf(aim).filter(found => found.length > 1))
    const at =
      Array.isArray(valueAt(aim, path.slice(0, -1))) || chance.is(40) ? path : [...path.slice(0, -1), bareKey(chance)]
    const op = chance.pick(['add', 'add', 'add', 'replace', 'copy', 'test', 'remove'])
    if (op === 'copy') return { op, from: pointer(path), path: pointer(at) }
    if (op === 'remove') return { op, path: pointer(path) }
    if (op === 'test') return { op, path: pointer(path), value: valueAt(aim, path)! }
    return { op, path: pointer(at), value: value(chance) }
  })
  return { patch, target: { kind: aim.kind! } }
}

function merge({ objects, chance }: Made): Fields {
  const aim = structuredClone(chance.pick(objects))
  for (let times = 1 + chance.upTo(1); times > 0; times--) put(aim, chance)
  if (chance.is(50)) return aim
  const { apiVersion, kind, metadata, ...rest } = aim
  const { name } = metadata as Fields
  return { apiVersion: apiVersion!, kind: kind!, metadata: { name: name! }, ...rest }
}

function replacement({ objects, chance }: Made): Fields {
  const places = (object: Fields) => pathsOf(object).filter(path => path[0] !== 'kind' && path[0] !== 'apiVersion')
  const [from, to] = [chance.pick(objects), chance.pick(objects)]
  const written = (path: readonly string[]): string => path.map(part => part.replaceAll('.', '\\.')).join('.')
  const source = { kind: from.kind!, fieldPath: written(chance.pick(places(from))) }
  const path = chance.pick(places(to))
  const target = chance.is(50) ? path : [...path.slice(0, -1), bareKey(chance)]
  return {
    ...(chance.is(25) ? { sourceValue: text(chance) } : { source }),
    targets: [
      {
        select: { kind: to.kind! },
        fieldPaths: [written(target)],
        options: {
          create: chance.is(70),
          ...chance.maybe(15, 'delimiter', () => chance.pick(['-', ':', '.', ' '])),
        },
      },
    ],
  }
}

const generated = ({ chance }: Made): Fields => ({
  name: chance.pick(['made', 'made', 'web']),
  literals: [`${chance.pick(['a', 'a', 'b.c', 'y', '1', 'true', '1e3', '2024-01-02', 'null'])}=${text(chance)}`],
  ...chance.maybe(40, 'options', () => ({
    disableNameSuffixHash: chance.is(50),
    ...chance.maybe(50, 'labels', () => pairs(chance)),
    ...chance.maybe(50, 'annotations', () => pairs(chance)),
  })),
  ...chance.maybe(10, 'behavior', () => chance.pick(['merge', 'replace'])),
})

const fieldSpec = ({ chance }: Made): Fields => ({
  path: ['spec', ...chance.some(['from', 'new'], 40), (chance.is(30) ? key(chance) : 'x').replaceAll('/', '-')].join(
    '/',
  ),
  create: chance.is(70),
})

/** Each field of a kustomization that writes a key or a value. */
const FEATURES: readonly ((made: Made) => Fields)[] = [
  ({ chance }) => ({
    labels: [
      {
        pairs: pairs(chance),
        ...chance.maybe(40, 'includeSelectors', () => true),
        ...chance.maybe(40, 'includeTemplates', () => true),
      },
    ],
  }),
  made => ({ labels: [{ pairs: pairs(made.chance), fields: [fieldSpec(made)] }] }),
  ({ chance }) => ({ commonLabels: pairs(chance) }),
  ({ chance }) => ({ commonAnnotations: pairs(chance) }),
  ({ chance }) => ({ namespace: text(chance) }),
  ({ chance }) => ({ [chance.pick(['namePrefix', 'nameSuffix'])]: text(chance) }),
  ({ chance }) => ({
    images: [{ name: 'nginx', [chance.pick(['newName', 'newTag', 'digest', 'tagSuffix'])]: text(chance) }],
  }),
  ({ chance }) => ({ replicas: [{ name: 'web', count: chance.pick([0, 3, 1_000_000]) }] }),
  made => {
    const { patch, target } = operations(made)
    return { patches: [{ patch: made.chance.is(50) ? JSON.stringify(patch) : made.yaml.document(patch), target }] }
  },
  made => {
    const { patch, target } = operations(made)
    return { patchesJson6902: [{ patch: JSON.stringify(patch), target: { ...target, version: 'v1', name: 'web' } }] }
  },
  made => {
    const patch = merge(made)
    const target = made.chance.maybe(40, 'target', () => ({ kind: patch.kind! }))
    return { patches: [{ patch: made.yaml.document(patch), ...target }] }
  },
  made => ({ patchesStrategicMerge: [made.yaml.document(merge(made))] }),
  made => ({ replacements: [replacement(made)] }),
  made => ({ replacements: [replacement(made), replacement(made)] }),
  made => ({ [made.chance.pick(['configMapGenerator', 'secretGenerator'])]: [generated(made)] }),
  ({ chance }) => ({
    configMapGenerator: [{ name: 'made', literals: ['a=1'] }],
    generatorOptions: { [chance.pick(['labels', 'annotations'])]: pairs(chance) },
  }),
  made => ({ transformers: [plugin(made)] }),
  ({ chance }) => ({ buildMetadata: chance.some(['originAnnotations', 'managedByLabel', 'transformerAnnotations']) }),
]

function plugin(made: Made): string {
  const { chance, yaml } = made
  const one = chance.pick<() => Fields>([
    () => ({ kind: 'LabelTransformer', labels: pairs(chance), fieldSpecs: [fieldSpec(made)] }),
    () => ({ kind: 'AnnotationsTransformer', annotations: pairs(chance), fieldSpecs: [fieldSpec(made)] }),
    () => ({ kind: 'PrefixTransformer', prefix: text(chance), fieldSpecs: [{ path: 'metadata/name' }] }),
    () => ({ kind: 'PatchTransformer', patch: yaml.document(merge(made)) }),
    () => ({ kind: 'ReplacementTransformer', replacements: [replacement(made)] }),
  ])()
  return yaml.document({ apiVersion: 'builtin', metadata: { name: 't' }, ...one })
}

/** Small builds in which one or two fields in a row write hostile keys and values. */
export function hostileTrials(): fc.Arbitrary<Trial> {
  return fc.gen().map(g => build(new Chance(g)))
}

function build(chance: Chance): { readonly files: Readonly<Record<string, string>>; readonly target: string } {
  const yaml = new YamlText(chance, chance.pick([0, 5, 20]))
  const made: Made = { objects: objects(chance), chance, yaml }
  const feature = () => chance.pick(FEATURES)(made)
  const base = { resources: ['r.yaml'] }
  const [first, second] = [feature(), chance.is(50) ? feature() : undefined]
  const files: Record<string, string> = { 'base/r.yaml': yaml.documents(made.objects) }
  if (second === undefined) files['base/kustomization.yaml'] = yaml.document({ ...base, ...first })
  else if (chance.is(40)) files['base/kustomization.yaml'] = yaml.document({ ...base, ...first, ...second })
  else {
    files['base/kustomization.yaml'] = yaml.document({ ...base, ...first })
    if (chance.is(30)) {
      const component = { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', ...second }
      files['part/kustomization.yaml'] = yaml.document(component)
      files['top/kustomization.yaml'] = yaml.document({ resources: ['../base'], components: ['../part'] })
    } else files['top/kustomization.yaml'] = yaml.document({ resources: ['../base'], ...second })
  }
  const target = 'top/kustomization.yaml' in files ? 'top' : 'base'
  if (chance.is(70)) for (const [path, content] of Object.entries(files)) files[path] = escaped(content)
  return { files, target }
}

/** Between double quotes YAML takes for an escape what no file may hold as it is. */
const escaped = (content: string): string =>
  content.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The same below a Flux Kustomization whose spec writes hostile keys and values, too. */
export function hostileFluxTrials(): fc.Arbitrary<Trial> {
  return fc.gen().map(g => {
    const chance = new Chance(g)
    const { files, target } = build(chance)
    const yaml = new YamlText(chance, 0)
    const made: Made = { objects: objects(chance), chance, yaml }
    const spec = {
      path: `./${target}`,
      ...(Object.assign({}, ...chance.some(SPEC, 25).map(make => make(made))) as Fields),
    }
    const metadata = { name: 'k', namespace: 'apps' }
    const kustomization = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata, spec }
    if (!('postBuild' in spec)) return { files, flux: { kustomization } }
    const text = files['base/r.yaml']!
    const changed = { ...files, 'base/r.yaml': chance.is(60) ? text.replaceAll(/\bx\b/g, '${V}') : text }
    return { files: changed, flux: { kustomization, strict: true } }
  })
}

const SPEC: readonly ((made: Made) => Fields)[] = [
  made => {
    const { patch, target } = operations(made)
    return { patches: [{ patch: JSON.stringify(patch), target }] }
  },
  made => {
    const patch = merge(made)
    return { patches: [{ patch: made.yaml.document(patch), target: { kind: patch.kind! } }] }
  },
  ({ chance }) => ({
    commonMetadata: { labels: pairs(chance), ...chance.maybe(50, 'annotations', () => pairs(chance)) },
  }),
  ({ chance }) => ({ images: [{ name: 'nginx', [chance.pick(['newName', 'newTag', 'digest'])]: text(chance) }] }),
  ({ chance }) => ({ [chance.pick(['targetNamespace', 'namePrefix', 'nameSuffix'])]: text(chance) }),
  ({ chance }) => ({ postBuild: { substitute: { V: text(chance) } } }),
  () => ({ postBuild: { substitute: { W: 'none' } } }),
]
