import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import type { Artifact } from '../../flux/artifact.ts'
import { isOfKind } from '../../flux/references.ts'
import { ARTIFACT_GENERATOR, groupsThat, isDeployable } from '../../kube/flux-kinds.ts'
import { at, itemsOf, originAt, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import type { IncludedSource, SourceArtifact, UnmatchedSource } from '../model/fleet.ts'
import type { SourceContent } from '../model/input.ts'
import { isSameSpec } from '../model/same-node.ts'
import type { AskedRepository, DeclarationPlace, RepositoryFact } from '../model/source-access.ts'
import type { SourceRef } from '../model/source-ref.ts'

/** What a source object stands for: content, or why there is none. */
export type Resolved = {
  readonly url: string
  readonly ref: SourceRef
  /** The sources whose content is in this one's artifact, too. */
  readonly includes?: readonly IncludedSource[]
  /** The OCI artifact by which its content comes. */
  readonly artifactOf?: SourceArtifact
  /** What of repositories a generator put where. */
  readonly copies?: readonly { readonly from: string; readonly to: string }[]
  /** Only a tenant's declaration leads there. */
  readonly lent?: true
  /** JSON text of `spec.verify`: Flux checks a signature before it takes the content; it was not checked here. */
  readonly verify?: string
  /** Why nothing is known of what it follows, and how the fleet's file can declare it. */
  readonly unmatched?: UnmatchedSource
  /** Why these files are not all that Flux would put into the artifact: the node that follows it fails. */
  readonly refused?: BailiwickError
} & (
  | (Pick<SourceContent, 'commit' | 'tag' | 'originRevision'> & {
      readonly type: 'content'
      readonly artifact: Artifact
      readonly own: boolean
    })
  | { readonly type: 'opaque'; readonly reason: string }
  /** `asks`: it is not known yet whether it may be read. */
  | { readonly type: 'wanted'; readonly asks?: ReadDecision & { readonly state: 'ask' } }
)

/** Whether a source object may be read for the node that follows it; 'bootstrap': the fleet's own repository. */
export interface MayRead {
  /** Equal for readers that get equal answers. */
  readonly reader: string
  ask(source: KubeObject | 'bootstrap', url: string): ReadDecision
  /** Whether a registry may be asked for it with the operator's credentials. */
  asOperator(source: KubeObject, url: string): boolean
}

/** Finds the content of sources in an input; the same content is the same Artifact, so that renderers may cache by it. */
export interface Sources {
  /** The fleet repository itself. */
  readonly own: Resolved & { readonly type: 'content' }
  /** What a repository holds at what a source follows, by the normalized address. */
  at(url: string, ref: SourceRef, read: ReadDecision): Resolved
  /**
   * Throws `flux-invalid` for a source object that Flux refuses, `flux-unsupported` for one that includes others; what was
   * composed once is composed. `author`: the tenant who declares it; null: a cluster starts with it.
   */
  resolve(kind: string, source: KubeObject | 'bootstrap', may: MayRead, author?: string | null): Resolved
}

/** One question: may this repository be read for this node? */
interface ReadQuestion {
  /** The declaration that names it is the platform's: rendered by a node without a tenant. */
  readonly byPlatform: boolean
  /** The platform's manifests declare the repository for the reader, as they are before the change. */
  readonly declared: boolean
  /** The fleet's own file lists it: under `tenants[].repositories` of the reader, or by a pattern of its `allowedSources`. */
  readonly listed: 'repository' | 'pattern' | undefined
  /** The declaration stands in this very repository, and the reader wrote it. */
  readonly standsThere: boolean
  /** The change adds or alters the declaration. */
  readonly isNew: boolean
  /** The change is in this repository, and its result is not the declaring tenant's. */
  readonly withheld: boolean
  readonly fact: RepositoryFact | undefined
  /**
   * The reader's own declaration was brought by an admin of the repository, which counts as their approval. Not
   * known yet: where it is declared.
   */
  readonly adopted: boolean | DeclarationPlace
}

/** `lent`: only a tenant's declaration leads there, so the repository itself is not gated by it, and nothing is published on it. */
export type ReadDecision =
  | { readonly state: 'read'; readonly lent: boolean }
  | { readonly state: 'refused'; readonly lent: true }
  | { readonly state: 'ask'; readonly people: boolean; readonly declaredIn?: DeclarationPlace }

const REFUSED: ReadDecision = { state: 'refused', lent: true }

/**
 * Whether a repository is read for a node: because the platform declares it or the fleet's file lists it, because the
 * declaration stands in it, because an admin of it brought the declaration, because it is public, or because all who
 * brought the change may read it. Anything else is refused, in one way: the answer does not depend on whether the repository
 * exists.
 */
export function decideRead(question: ReadQuestion): ReadDecision {
  const { byPlatform } = question
  if (question.declared || question.standsThere || question.listed === 'repository')
    return { state: 'read', lent: false }
  if (!byPlatform) {
    const { adopted } = question
    if (typeof adopted === 'object') return { state: 'ask', people: false, declaredIn: adopted }
    if (adopted) return { state: 'read', lent: false }
    if (question.withheld) return REFUSED
  }
  const read: ReadDecision = { state: 'read', lent: !byPlatform }
  if (question.listed === 'pattern') return read
  const { fact } = question
  if (!fact) return { state: 'ask', people: question.isNew }
  if (fact.public) return read
  if (!question.isNew) return REFUSED
  if (fact.people === undefined) return { state: 'ask', people: true }
  return fact.people ? read : REFUSED
}

/** What is asked about a repository for a decision. */
export const askedBy = (
  url: string,
  { people, declaredIn }: ReadDecision & { readonly state: 'ask' },
): AskedRepository => ({ url, people, ...(declaredIn ? { declaredIn } : {}) })

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
