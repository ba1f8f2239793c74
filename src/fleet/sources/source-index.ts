import { BailiwickError } from '../../errors.ts'
import { isOfKind } from '../../flux/flux-object.ts'
import { ARTIFACT_GENERATOR, groupsThat, isDeployable } from '../../flux/kinds.ts'
import { at, itemsOf, originAt, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import { isSameSpec } from '../model/same-spec.ts'

/** API groups whose objects it holds. */
export const SOURCE_GROUPS: ReadonlySet<string> = groupsThat(row => row.source ?? row.makesSources)

/** A source object, and the node that renders it. */
export interface RenderedSource {
  readonly object: KubeObject
  readonly node: {
    readonly key: string
    readonly tenant?: string
    readonly source: { readonly url: string; readonly commit: string }
  }
}

/** The source objects of one cluster that were rendered so far, by `<Kind>/<namespace>/<name>`. */
export class SourceIndex {
  /** Nothing more will be added: a source that is not here is nowhere. */
  complete = false
  /** Sources that the fleet's file declares, for want of an object; they count once nothing more is added. */
  readonly byHand: ReadonlyMap<string, KubeObject>
  /** Sources that nothing declares and that are taken for the fleet's own repository. */
  readonly presumed = new Set<string>()
  readonly #generators = new Map<string, KubeObject[]>()
  readonly #objects = new Map<string, RenderedSource>()
  #bootstrap = ''
  #added: string[] = []

  constructor(byHand: ReadonlyMap<string, KubeObject> = new Map()) {
    this.byHand = byHand
  }

  /** Throws `graph-conflict`, under `rule` if given, where another node renders the same source differently; the first one stays. */
  add(object: KubeObject, node: RenderedSource['node'], rule?: string): void {
    const { kind, namespace, name } = idOf(object)
    if (isOfKind(object, ARTIFACT_GENERATOR)) {
      const list = this.#generators.get(namespace) ?? []
      this.#generators.set(namespace, list)
      list.push(object)
      for (const one of itemsOf(at(object.root, ['spec', 'artifacts'])))
        this.#added.push(`ExternalArtifact/${namespace}/${stringAt(one, ['name']) ?? ''}`)
    }
    const id = `${kind}/${namespace}/${name}`
    const known = this.#objects.get(id)
    if (!known) {
      this.#objects.set(id, { object, node })
      this.#added.push(id)
      return
    }
    // labels and annotations, which Kustomizations add, are no part of what is fetched
    // two versions of what a Kustomization takes its content from would mean two contents
    if (!isDeployable(kind) || isSameSpec(known.object, object)) return
    const shown = display(idOf(object))
    throw new BailiwickError(
      'graph-conflict',
      message`${part('object', shown)}: rendered twice, with different content. Allowed: one object`,
      {
        origin: originAt(object.root, ['metadata', 'name']),
        rule,
        identity: `${shown} is rendered twice, with different content`,
        fix: 'Delete one of the two objects.',
      },
    )
  }

  /** The ArtifactGenerators of a namespace. */
  generators(namespace: string): readonly KubeObject[] {
    return this.#generators.get(namespace) ?? []
  }

  /** The source that bootstrap makes, for a fleet that does not hold it. */
  addBootstrap(id: string): void {
    this.#bootstrap = id
  }

  find(id: string): KubeObject | 'bootstrap' | undefined {
    const object = this.#objects.get(id)?.object ?? (this.complete ? this.byHand.get(id) : undefined)
    return object ?? (id === this.#bootstrap || this.presumed.has(id) ? 'bootstrap' : undefined)
  }

  /** Tenant of the node that renders a source; undefined: the platform's. */
  declarerOf(id: string): string | undefined {
    return this.#objects.get(id)?.node.tenant
  }

  /** The repository at a commit from which the node comes that renders a source. */
  contentOf(id: string): { readonly url: string; readonly commit: string } | undefined {
    return this.#objects.get(id)?.node.source
  }

  /** Every source by its id. */
  all(): Iterable<readonly [string, RenderedSource]> {
    return this.#objects
  }

  /** What was added since the last time this was asked. */
  added(): readonly string[] {
    const added = this.#added
    this.#added = []
    return added
  }
}
