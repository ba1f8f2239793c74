import { type ExpectedStep, FleetWriter, type Shape, type WrittenFleet } from './written-fleet.ts'

const BASE = 'base/kustomization.yaml'
const OVERLAY = 'overlay/kustomization.yaml'
const COMPONENT = 'component/kustomization.yaml'

/** A base, an overlay and perhaps a component that use what the shape asks for. */
export function writeFleet(shape: Shape): WrittenFleet {
  const write = new FleetWriter(shape)
  const names = { web: write.word('base/web.yaml'), map: write.word('base/web.yaml'), generated: write.word(BASE) }
  const keys = {
    image: write.word('base/web.yaml', [], !shape.flags.images),
    value: write.word('base/web.yaml', [], !shape.flags.patchInline),
  }
  const trails = new Map<string, readonly ExpectedStep[]>()
  const component = shape.flags.component ? [{ step: 'component', file: OVERLAY, marker: '../component' }] : []
  const up = { step: 'resource', file: OVERLAY, marker: '../base' }
  for (const name of [names.web, names.map]) {
    trails.set(name, [{ step: 'resource', file: BASE, marker: 'web.yaml' }, up, ...component])
  }
  writeBase(write, shape, names, keys, trails, [up, ...component])
  if (shape.flags.component) writeComponent(write, component, trails)
  writeOverlay(write, shape, names, keys)
  return { files: write.files(), writers: write.writers, seen: write.seen, trails }
}

interface Names {
  readonly web: string
  readonly map: string
  readonly generated: string
}

interface Keys {
  readonly image: string
  readonly value: string
}

function writeBase(
  write: FleetWriter,
  { flags }: Shape,
  names: Names,
  keys: Keys,
  trails: Map<string, readonly ExpectedStep[]>,
  above: readonly ExpectedStep[],
): void {
  const web = 'base/web.yaml'
  write.add(BASE, 'resources:\n  - web.yaml\n')
  if (flags.prefix) write.add(BASE, `namePrefix: ${write.word(BASE, [], false)}-\n`)
  if (flags.labels)
    write.add(BASE, `labels:\n  - pairs:\n      one: ${write.value(BASE)}\n    includeSelectors: true\n`)
  write.add(
    web,
    `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${write.quoted(names.web)}\n  annotations: {a: ${write.value(web)}}\n` +
      `spec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n        - name: main\n          image: ${keys.image}:v1\n` +
      `          env:\n            - name: ${write.value(web)}\n              value: first\n          args:\n          - ${write.value(web)}\n` +
      `      volumes: [{name: v, configMap: {name: ${names.generated}}}]\n---\n`,
  )
  write.add(
    web,
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${write.quoted(names.map)}\ndata:\n  plain: ${write.quoted(keys.value)}\n` +
      `  block: |\n    ${write.word(web)} here\n    and there\n  json: '{"k": {"v": "${write.word(web, [], !flags.embedded)}"}}'\n` +
      `  cut: ${write.word(web, [], !flags.delimiter)}-tail\n  none: {}\n`,
  )
  writeGenerators(write, flags, names)
  trails.set(names.generated, [
    { step: 'generator', file: BASE, marker: `name: ${names.generated}` },
    up(above),
    ...(flags.merge && flags.generator
      ? [{ step: 'generator', file: OVERLAY, marker: `name: ${names.generated}` }]
      : []),
    ...above.slice(1),
  ])
}

const up = (above: readonly ExpectedStep[]): ExpectedStep => above[0]!

function writeGenerators(write: FleetWriter, flags: Shape['flags'], names: Names): void {
  if (!flags.generator) return
  const generator = { step: 'generator', file: BASE, marker: `name: ${names.generated}` }
  let entry = `configMapGenerator:\n  - name: ${names.generated}\n    literals:\n      - k=${write.word(BASE)}\n`
  if (flags.file) {
    entry += '    files:\n      - some.txt\n'
    write.add('base/some.txt', `${write.word('base/some.txt', [generator])}\nmore\n`)
  }
  if (flags.envs) {
    entry += '    envs: [vars.env]\n'
    write.add(
      'base/vars.env',
      `A=${write.word('base/vars.env', [generator])}\nB=${write.word('base/vars.env', [generator])}\n`,
    )
  }
  entry += `    options:\n      annotations: {ga: ${write.value(BASE)}}\n`
  write.add(BASE, entry)
  if (flags.secret) {
    write.add(BASE, `secretGenerator:\n  - name: ${write.word(BASE)}\n    literals:\n      - s=${write.word(BASE)}\n`)
  }
}

function writeComponent(
  write: FleetWriter,
  above: readonly ExpectedStep[],
  trails: Map<string, readonly ExpectedStep[]>,
): void {
  const more = 'component/more.yaml'
  const name = write.word(more)
  const marker = write.marker()
  const patch = [{ step: 'patch', file: COMPONENT, marker }]
  write.add(COMPONENT, 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n  - more.yaml\n')
  write.add(COMPONENT, `commonAnnotations:\n  ca: ${write.value(COMPONENT)}\n`)
  write.add(COMPONENT, `patches:\n  - path: added.yaml # ${marker}\n    target: {kind: Deployment}\n`)
  const added = 'component/added.yaml'
  write.add(
    added,
    `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: any\nspec:\n  strategy: {type: ${write.value(added, patch)}}\n` +
      `  template:\n    spec:\n      containers:\n      - name: ${write.value(added, patch)}\n        image: ${write.value(added, patch)}\n`,
  )
  write.add(
    more,
    `apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: ${name}\nextra: [{deep: ${write.value(more)}}]\n`,
  )
  trails.set(name, [{ step: 'resource', file: COMPONENT, marker: 'more.yaml' }, ...above])
}

function writeOverlay(write: FleetWriter, { flags }: Shape, names: Names, keys: Keys): void {
  const add = (text: string): void => write.add(OVERLAY, text)
  add('resources:\n  - ../base\n')
  if (flags.component) add('components:\n  - ../component\n')
  if (flags.namespace) add(`namespace: ${write.value(OVERLAY)}\n`)
  if (flags.suffix) add(`nameSuffix: -${write.word(OVERLAY, [], false)}\n`)
  if (flags.commonLabels) add(`commonLabels: {two: ${write.value(OVERLAY)}}\n`)
  if (flags.annotations) add(`commonAnnotations:\n    three: ${write.value(OVERLAY)}\n`)
  if (flags.images)
    add(
      `images:\n  - name: ${keys.image}\n    newName: ${write.word(OVERLAY, [], false)}\n    newTag: ${write.word(OVERLAY)}\n`,
    )
  if (flags.replicas) add(`replicas:\n- name: ${names.web}\n  count: 4321\n`)
  if (flags.generator && flags.merge) {
    add(
      `configMapGenerator:\n  - name: ${names.generated}\n    behavior: merge\n    literals: [merged=${write.word(OVERLAY)}]\n`,
    )
  }
  writePatches(write, flags, names)
  writeReplacements(write, flags, names)
  if (flags.builtin) {
    add(
      `transformers:\n  - |-\n    apiVersion: builtin\n    kind: AnnotationsTransformer\n    metadata: {name: x}\n` +
        `    annotations:\n      four: ${write.value(OVERLAY)}\n    fieldSpecs: [{path: metadata/annotations, create: true}]\n`,
    )
  }
}

function writePatches(write: FleetWriter, flags: Shape['flags'], names: Names): void {
  const step = (marker: string) => [{ step: 'patch', file: OVERLAY, marker }]
  const entries: string[] = []
  if (flags.patchFile) {
    const marker = write.marker()
    const file = 'overlay/patch.yaml'
    write.add(
      file,
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${names.map}\ndata:\n  fromFile: ${write.value(file, step(marker))}\n`,
    )
    entries.push(`  - path: patch.yaml # ${marker}\n`)
  }
  if (flags.patchInline) {
    const marker = write.marker()
    entries.push(
      `  - patch: |- # ${marker}\n      apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: ${names.map}\n` +
        `      data:\n        plain: ${write.value(OVERLAY, step(marker))}\n        map: {deep: [${write.value(OVERLAY, step(marker))}]}\n`,
    )
  }
  if (flags.patchJson) {
    const marker = write.marker()
    entries.push(
      `  - target: {kind: ConfigMap, name: ${names.map}} # ${marker}\n    patch: |\n      - op: add\n        path: /data/added\n` +
        `        value: ${write.value(OVERLAY, step(marker))}\n      - {op: add, path: /list, value: [${write.value(OVERLAY, step(marker))}]}\n`,
    )
  }
  if (entries.length > 0) write.add(OVERLAY, `patches:\n${entries.join('')}`)
  if (!flags.patchSmp) return
  const marker = write.marker()
  write.add(
    OVERLAY,
    `patchesStrategicMerge:\n  - |- # ${marker}\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: ${names.web}}\n` +
      `    spec:\n      minReady: ${write.value(OVERLAY, step(marker))}\n`,
  )
}

function writeReplacements(write: FleetWriter, flags: Shape['flags'], names: Names): void {
  const entries: string[] = []
  const target = (path: string, more = '') =>
    `    targets:\n      - select: {kind: ConfigMap, name: ${names.map}}\n        fieldPaths: [${path}]\n${more}`
  if (flags.replacement) {
    entries.push(
      `  - source: {kind: Deployment, fieldPath: metadata.annotations.a} # to-copied\n${target('data.copied', '        options: {create: true}\n')}`,
    )
  }
  if (flags.delimiter) {
    const word = write.word(OVERLAY, [{ step: 'replacement', file: OVERLAY, marker: 'to-cut' }])
    entries.push(
      `  - sourceValue: ${word} # to-cut\n${target('data.cut', "        options: {delimiter: '-', index: 0}\n")}`,
    )
  }
  if (flags.embedded) {
    // the text stays where it is; a part of it was replaced
    entries.push(`  - sourceValue: inside # to-json\n${target('data.json.k.v')}`)
  }
  if (flags.replacementFile) {
    entries.push('  - path: replacement.yaml\n')
    write.add(
      'overlay/replacement.yaml',
      `source: {kind: Deployment, fieldPath: spec.template.spec.volumes}\n` +
        `targets:\n- select: {kind: ConfigMap, name: ${names.map}}\n  fieldPaths: [volumes]\n  options: {create: true}\n`,
    )
  }
  if (entries.length > 0) write.add(OVERLAY, `replacements:\n${entries.join('')}`)
}
