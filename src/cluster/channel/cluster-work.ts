import type { SourceRef } from '../../fleet/model/source-ref.ts'
import { flag, list, type MessageShape, map, mark, oneOf, optional, type Read, readJson, text, whole } from './shape.ts'

const LONG = text(2_000)
const COMMIT = text(64, /^[0-9a-f]{40,64}$/)
const NAME = text(100, /^[\w.-]{1,100}$/)
const DIGEST = text(200)
const items = <T>(shape: MessageShape<T>) => list(100_000, shape)

const REF: MessageShape<SourceRef> = map({
  branch: optional(LONG),
  tag: optional(LONG),
  commit: optional(LONG),
  semver: optional(LONG),
  name: optional(LONG),
  registry: optional(
    map({
      tag: optional(LONG),
      semver: optional(LONG),
      semverFilter: optional(LONG),
      digest: optional(LONG),
      layer: optional(LONG),
      copied: mark,
      anonymous: mark,
    }),
  ),
})

const REPOSITORY = map({
  id: whole(),
  owner: NAME,
  name: NAME,
  url: LONG,
  defaultBranch: LONG,
  archived: flag,
  createdAt: text(40),
  pushedAt: text(40),
  visibility: oneOf(['public', 'internal', 'private']),
})

const WORK = map({
  cluster: text(63),
  /** Version of the engine that evaluated. */
  engine: text(100),
  fleet: map({ url: LONG, branch: LONG, commit: COMMIT }),
  /** Identifies the evaluated revision set; the results name it. */
  revisionSet: text(200),
  /** Those whose content the cluster's own nodes hold; a token reaches no other. */
  repositories: items(REPOSITORY),
  /** Where each ref stands in this revision set. */
  heads: items(map({ url: LONG, ref: REF, commit: COMMIT })),
  /** Digests of the artifacts in it; of a range of versions the tag, too. */
  artifacts: items(map({ url: LONG, ref: REF, digest: text(71, /^sha256:[0-9a-f]{64}$/), tag: optional(LONG) })),
  /** First parents of commits that the evaluation had to look at. */
  parents: items(map({ repository: whole(), commit: COMMIT, parent: COMMIT })),
  /** Files of the repositories that name the address of another one, which one of its admins brought there. */
  adopted: items(map({ repository: whole(), commit: COMMIT, file: LONG, url: LONG })),
  /** Names that lead to one of the repositories. */
  names: items(map({ owner: NAME, repo: NAME, id: whole() })),
  /** Keys of all nodes of the cluster, whether or not they may be applied. */
  nodes: items(LONG),
  apply: items(map({ key: LONG, digest: DIGEST })),
  held: items(map({ key: LONG, reason: text(20_000) })),
  /** Held only until the values of the cluster are known, with the digest of what was evaluated without them. */
  waiting: items(map({ key: LONG, digest: DIGEST })),
  prunes: map({ share: whole(100), atLeast: whole(), approved: items(DIGEST) }),
})

const TOKENS = map({
  tokens: items(
    map({
      token: text(1_000, /^[\x21-\x7e]+$/),
      expiresAt: text(40, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      repositories: items(whole()),
    }),
  ),
})

/** A repository that the cluster's graph reads, as the web process knows it. */
export type WorkRepository = Read<typeof REPOSITORY>

/**
 * What the web process approved for one cluster: a revision set, with everything that an evaluation of it asks GitHub, and the
 * digest of each node. The worker evaluates the same content itself and applies what both approve.
 */
export type ClusterWork = Read<typeof WORK>

/** A token of GitHub that reads the content of these repositories until then (ISO time), and can do nothing else. */
export type ContentToken = Read<typeof TOKENS>['tokens'][number]

/** Reads what the web process answered. Throws `cluster-invalid` naming what is wrong. */
export const parseClusterWork = (answer: string): ClusterWork => readJson(answer, 'work', WORK)

/** Reads the tokens that the web process answered. Throws `cluster-invalid` naming what is wrong. */
export const parseContentTokens = (answer: string): readonly ContentToken[] => readJson(answer, 'tokens', TOKENS).tokens
