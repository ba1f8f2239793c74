import type { Origin } from '../../origin.ts'

/** A GitRepository object of one cluster, as the next change is compared with it. */
export interface SourceDeclaration {
  readonly cluster: string
  /** `GitRepository/<namespace>/<name>`. */
  readonly id: string
  /** Normalised. */
  readonly url: string
  /** Tenant whose node renders it; absent: the platform. */
  readonly tenant?: string
  /** Key of the node that renders it. */
  readonly node: string
  readonly origin: Origin
  /** Canonical JSON of the object. */
  readonly text: string
  /** It may not be read for the tenant that declares it. */
  readonly refused: boolean
  /** An admin of the repository brought it. */
  readonly adopted?: true
  /** What it follows requires our check, by rules of GitHub's, and a change of it is evaluated for the tenant. */
  readonly gated?: true
}

/** What a fleet declares about its sources: data that the decision about a change reads. */
export interface SourceAccess {
  /** Keys of readerKey and followerKey: which repository the platform's manifests declare for whom. */
  readonly platform: ReadonlySet<string>
  /** By `<cluster> <id>`. */
  readonly declarations: ReadonlyMap<string, SourceDeclaration>
  /** Id of the source that each node follows, by the node's key. */
  readonly follows: ReadonlyMap<string, string>
  /** Repositories of charts that may not be read for whose release it is: keys of chartReaderKey. */
  readonly charts: ReadonlySet<string>
}

/** The same for the platform's own Kustomizations that act for a reader: what these follow, the reader's may not. */
export const followerKey = (reader: string, url: string): string => `${readerKey(reader, url)}\0by the platform`

/** A repository and who reads it; '' is the platform. */
export const readerKey = (reader: string, url: string): string => `${reader}\0${url}`

export const chartReaderKey = (cluster: string, owner: string, url: string): string =>
  `${cluster}\0${readerKey(owner, url)}`

export const declarationKey = (cluster: string, id: string): string => `${cluster} ${id}`
