import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, type MapNode, stringAt, withField, withoutField, withValueAt } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Entry } from '../entry.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import type { Resource } from '../resource/resource.ts'

const ORIGIN = 'config.kubernetes.io/origin'
const TRANSFORMATIONS = 'alpha.config.kubernetes.io/transformations'

/** Where and by what something is configured. */
type Configured = readonly (readonly [string, string])[]

/**
 * What `buildMetadata` of the root requests: annotations with the origin of an object (api/resource/origin.go, 5.8.1).
 * They are on the objects during the build, as in kustomize, where patches and replacements see them. Does nothing
 * where the root requests nothing.
 */
export class BuildNotes {
  readonly wanted: readonly Entry[]
  /** Paths of the directories that led here, as their entries wrote them. */
  private readonly places = ['']

  constructor({ buildMetadata }: Pick<Kustomization, 'buildMetadata'>) {
    this.wanted = buildMetadata
    const transformers = this.option('transformerAnnotations')
    if (transformers) unsupported('transformerAnnotations is', transformers.origin, 'Remove it.')
  }

  /** Goes into a directory that an entry names, until `leave`. */
  enter(entry: Entry): void {
    if (this.asked) this.places.push(this.below(entry.text, entry.origin))
  }

  leave(): void {
    if (this.asked) this.places.pop()
  }

  /** Objects that were read from the file of an entry. */
  read(resources: readonly Resource[], entry: Entry): void {
    if (!this.asked) return
    const text = `path: ${this.below(entry.text, entry.origin)}\n`
    for (const resource of resources) this.annotate(resource, text)
  }

  /** An object that a builtin made; `config` is what configured it, absent for a field of the kustomization. */
  generated(resource: Resource, file: string, kind: string, config?: MapNode): void {
    // what extends another object leaves that its origin
    if (!this.asked || resource.behavior === 'merge') return
    this.annotate(resource, lines(this.configured(file, kind, config)))
  }

  /** The object as it is shown: with the label of its builder, without notes that were not requested. */
  finish(root: MapNode, builder: string): MapNode {
    if (!this.asked) return root
    const label = this.option('managedByLabel')
    const value = label && { type: 'scalar' as const, value: builder, origin: label.origin }
    const labelled = value ? withValueAt(root, ['metadata', 'labels', 'app.kubernetes.io/managed-by'], value) : root
    const noted = this.option('originAnnotations')
    if (noted && stringAt(root, ['metadata', 'annotations', ORIGIN]) === undefined) refuseRemoved(root, noted.origin)
    return without(noted ? labelled : without(labelled, ORIGIN), TRANSFORMATIONS)
  }

  private get asked(): boolean {
    return this.wanted.length > 0
  }

  private option(name: string): Entry | undefined {
    return this.wanted.find(entry => entry.text === name)
  }

  private annotate(resource: Resource, text: string): void {
    const option = this.option('originAnnotations') ?? this.wanted[0]!
    const value = { type: 'scalar', value: text, origin: option.origin, style: 'literal' } as const
    resource.root = withValueAt(resource.root, ['metadata', 'annotations', ORIGIN], value)
  }

  private configured(file: string, kind: string, config?: MapNode): Configured {
    if (!config) {
      const place = this.below(file.slice(file.lastIndexOf('/') + 1), this.wanted[0]!.origin)
      return [
        ['configuredIn', place],
        ['apiVersion', 'builtin'],
        ['kind', kind],
      ]
    }
    const note = at(config, ['metadata', 'annotations', ORIGIN])
    const place = note?.type === 'scalar' ? /^path: (.*)\n$/.exec(String(note.value))?.[1] : undefined
    // what is written in the kustomization itself is configured there
    const written = place ?? this.below(file.slice(file.lastIndexOf('/') + 1), config.origin)
    const named = (path: readonly string[]) => stringAt(config, path) ?? ''
    const all: (readonly [string, string])[] = [
      ['configuredIn', written],
      ['apiVersion', named(['apiVersion'])],
      ['kind', kind],
      ['name', named(['metadata', 'name'])],
      ['namespace', named(['metadata', 'namespace'])],
    ]
    for (const [, text] of all) if (text !== '') checkPlain(text, config.origin)
    return all.filter(([, text]) => text !== '')
  }

  private below(path: string, origin: Origin): string {
    const joined = joinPath(this.places.at(-1)!, path)
    checkPlain(joined, origin)
    return joined
  }
}

function lines([place, ...by]: Configured): string {
  const inner = by.map(([key, value]) => `  ${key}: ${value}\n`)
  return `${place![0]}: ${place![1]}\nconfiguredBy:\n${inner.join('')}`
}

/** A path below another, as short as possible; both are relative. */
function joinPath(place: string, path: string): string {
  const parts: string[] = []
  for (const part of `${place}/${path}`.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/') || '.'
}

/** Words that go-yaml puts in quotes though they are texts. */
const OLD_BOOLEAN = /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/

function checkPlain(text: string, origin: Origin): void {
  if (/^[\w./][\w./+-]*$/.test(text) && resolvePlain(text) === text && !OLD_BOOLEAN.test(text)) return
  unsupported(`the path or name ${JSON.stringify(text)}, which needs quotes in YAML, is`, origin)
}

/** kustomize would name the transformer after which the annotation was missing first. */
function refuseRemoved(root: MapNode, origin: Origin): never {
  const name = `${stringAt(root, ['kind'])} ${stringAt(root, ['metadata', 'name'])}`
  const fix = 'Remove the annotations one by one.'
  return unsupported(`a patch that removes all annotations of ${name} is`, origin, fix)
}

function unsupported(what: string, origin: Origin, fix?: string): never {
  const message = `buildMetadata: ${what} not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin, ...(fix ? { fix } : {}) })
}

function without(root: MapNode, key: string): MapNode {
  const metadata = at(root, ['metadata'])
  const annotations = at(metadata, ['annotations'])
  if (metadata?.type !== 'map' || annotations?.type !== 'map' || !annotations.fields.has(key)) return root
  return withField(root, 'metadata', withField(metadata, 'annotations', withoutField(annotations, key)))
}
