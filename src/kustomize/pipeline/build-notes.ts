import { BailiwickError } from '../../errors.ts'
import { withField, withoutField, withValueAt } from '../../kube/edit-node.ts'
import { at, type MapNode, stringAt } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import type { Entry } from '../model/entry.ts'
import { describe, type Resource } from '../resource/resource.ts'

const ORIGIN = 'config.kubernetes.io/origin'
const TRANSFORMATIONS = 'alpha.config.kubernetes.io/transformations'

/** Where and by what something is configured. */
type Configured = readonly (readonly [string, string])[]

/**
 * What `buildMetadata` of the root asks for: annotations that say where an object came from and what changed it
 * (api/resource/origin.go, 5.8.1). They are on the objects while these are built, as in kustomize, where patches and
 * replacements see them. Does nothing where the root asks for nothing.
 */
export class BuildNotes {
  readonly wanted: readonly Entry[]
  /** Paths of the directories that led here, as their entries wrote them. */
  private readonly places = ['']

  constructor({ buildMetadata }: Pick<Kustomization, 'buildMetadata'>) {
    this.wanted = buildMetadata
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
    for (const resource of resources) this.annotate(resource, ORIGIN, text)
  }

  /** An object that a builtin made; `config` is what configured it, absent for a field of the kustomization. */
  generated(resource: Resource, file: string, kind: string, config?: MapNode): void {
    // what extends another object leaves that its origin
    if (!this.asked || resource.behavior === 'merge') return
    this.annotate(resource, ORIGIN, lines(this.configured(file, kind, config), ''))
  }

  /** Fields of a kustomization whose builtins ran on all of these, whether or not they changed them. */
  transformed(resources: readonly Resource[], file: string, kinds: readonly string[]): void {
    if (!this.asked || kinds.length === 0) return
    const removed = kinds.length > 1 && resources.find(resource => annotation(resource, ORIGIN) === undefined)
    if (removed) {
      const { origin } = this.wanted[0]!
      const message = `buildMetadata: several patches, one of which removes annotations of ${describe(removed.current)},`
      throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Remove the annotations one by one.' })
    }
    for (const kind of kinds) this.note(resources, this.configured(file, kind))
  }

  /** The builtin that an object of `transformers` configures. */
  transformedBy(resources: readonly Resource[], file: string, config: MapNode): void {
    if (this.asked) this.note(resources, this.configured(file, stringAt(config, ['kind']) ?? '', config))
  }

  private note(resources: readonly Resource[], configured: Configured): void {
    const item = lines(configured, '  ').replace(/^ {2}/, '- ')
    for (const resource of resources) {
      // kustomize takes an object whose origin was removed for one that the transformer made
      if (annotation(resource, ORIGIN) === undefined) this.annotate(resource, ORIGIN, lines(configured, ''))
      else this.annotate(resource, TRANSFORMATIONS, `${annotation(resource, TRANSFORMATIONS) ?? ''}${item}`)
    }
  }

  /** The object as it is shown: with the label of its builder, without notes that were not asked for. */
  finish(root: MapNode, builder: string): MapNode {
    if (!this.asked) return root
    const label = this.option('managedByLabel')
    const value = label && { type: 'scalar' as const, value: builder, origin: label.origin }
    const labelled = value ? withValueAt(root, ['metadata', 'labels', 'app.kubernetes.io/managed-by'], value) : root
    const shown = this.option('originAnnotations') ? labelled : without(labelled, ORIGIN)
    return this.option('transformerAnnotations') ? shown : without(shown, TRANSFORMATIONS)
  }

  private get asked(): boolean {
    return this.wanted.length > 0
  }

  private option(name: string): Entry | undefined {
    return this.wanted.find(entry => entry.text === name)
  }

  private annotate(resource: Resource, key: string, text: string): void {
    const option = this.option(key === ORIGIN ? 'originAnnotations' : 'transformerAnnotations') ?? this.wanted[0]!
    const value = { type: 'scalar', value: text, origin: option.origin, style: 'literal' } as const
    resource.root = withValueAt(resource.root, ['metadata', 'annotations', key], value)
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

function lines([place, ...by]: Configured, indent: string): string {
  const inner = by.map(([key, value]) => `${indent}  ${key}: ${value}\n`)
  return `${indent}${place![0]}: ${place![1]}\n${indent}configuredBy:\n${inner.join('')}`
}

/** A path below another as short as it can be said; both are relative. */
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
  const message = `buildMetadata: the path or name ${JSON.stringify(text)}, which needs quotes in YAML,`
  throw new BailiwickError('kustomize-unsupported', `${message} is not supported`, { origin })
}

function annotation(resource: Resource, key: string): string | undefined {
  return stringAt(resource.root, ['metadata', 'annotations', key])
}

function without(root: MapNode, key: string): MapNode {
  const metadata = at(root, ['metadata'])
  const annotations = at(metadata, ['annotations'])
  if (metadata?.type !== 'map' || annotations?.type !== 'map' || !annotations.fields.has(key)) return root
  return withField(root, 'metadata', withField(metadata, 'annotations', withoutField(annotations, key)))
}
