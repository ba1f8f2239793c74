import type { Visibility } from '../../fleet/model/source-access.ts'
import type { SourceRef } from '../../fleet/model/source-ref.ts'
import { JsonReader } from './json-reader.ts'

/** A repository that the cluster's graph reads, as the web process knows it. */
export interface WorkRepository {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly url: string
  readonly defaultBranch: string
  readonly archived: boolean
  readonly createdAt: string
  readonly pushedAt: string
  readonly visibility: Visibility
}

/**
 * What the web process approved for one cluster: a revision set, with everything that an evaluation of it asks GitHub, and the
 * digest of each node. The worker evaluates the same content itself and applies what both approve.
 */
export interface ClusterWork {
  readonly cluster: string
  /** Version of the engine that evaluated. */
  readonly engine: string
  readonly fleet: { readonly url: string; readonly branch: string; readonly commit: string }
  /** Identifies the evaluated revision set; the results name it. */
  readonly revisionSet: string
  /** Those whose content the cluster's own nodes hold; a token reaches no other. */
  readonly repositories: readonly WorkRepository[]
  /** Where each ref stands in this revision set. */
  readonly heads: readonly { readonly url: string; readonly ref: SourceRef; readonly commit: string }[]
  /** Digests of the artifacts in it; of a range of versions the tag, too. */
  readonly artifacts: readonly { readonly url: string; ref: SourceRef; digest: string; tag?: string }[]
  /** First parents of commits that the evaluation had to look at. */
  readonly parents: readonly { readonly repository: number; readonly commit: string; readonly parent: string }[]
  /** Files of the repositories that name the address of another one, which one of its admins brought there. */
  readonly adopted: readonly {
    readonly repository: number
    readonly commit: string
    readonly file: string
    readonly url: string
  }[]
  /** Names that lead to one of the repositories. */
  readonly names: readonly { readonly owner: string; readonly repo: string; readonly id: number }[]
  /** Keys of all nodes of the cluster, whether or not they may be applied. */
  readonly nodes: readonly string[]
  readonly apply: readonly { readonly key: string; readonly digest: string }[]
  readonly held: readonly { readonly key: string; readonly reason: string }[]
  /** Held only until the values of the cluster are known, with the digest of what was evaluated without them. */
  readonly waiting: readonly { readonly key: string; readonly digest: string }[]
  readonly prunes: { readonly share: number; readonly atLeast: number; readonly approved: readonly string[] }
}

/** A token of GitHub that reads the content of these repositories, and can do nothing else. */
export interface ContentToken {
  readonly token: string
  /** ISO time. */
  readonly expiresAt: string
  readonly repositories: readonly number[]
}

const MAX_ITEMS = 100_000
const LONGEST = 2_000
const NAME = /^[\w.-]{1,100}$/
const COMMIT = /^[0-9a-f]{40,64}$/

/** Reads what the web process answered. Throws `cluster-invalid` naming what is wrong. */
export function parseClusterWork(text: string): ClusterWork {
  const work = JsonReader.parse(text, 'work')
  const items = (key: string) => work.field(key).list(MAX_ITEMS)
  const url = (one: JsonReader) => one.field('url').text(LONGEST)
  const [fleet, prunes] = [work.field('fleet'), work.field('prunes')]
  return {
    cluster: work.field('cluster').text(63),
    engine: work.field('engine').text(100),
    fleet: {
      url: url(fleet),
      branch: fleet.field('branch').text(LONGEST),
      commit: fleet.field('commit').text(64, COMMIT),
    },
    revisionSet: work.field('revisionSet').text(200),
    repositories: items('repositories').map(readRepository),
    heads: items('heads').map(one => ({
      url: url(one),
      ref: readRef(one.field('ref')),
      commit: one.field('commit').text(64, COMMIT),
    })),
    artifacts: items('artifacts').map(one => ({
      url: url(one),
      ref: readRef(one.field('ref')),
      digest: one.field('digest').text(71, /^sha256:[0-9a-f]{64}$/),
      ...textIn(one, 'tag'),
    })),
    parents: items('parents').map(one => ({
      repository: one.field('repository').whole(),
      commit: one.field('commit').text(64, COMMIT),
      parent: one.field('parent').text(64, COMMIT),
    })),
    adopted: items('adopted').map(one => ({
      repository: one.field('repository').whole(),
      commit: one.field('commit').text(64, COMMIT),
      file: one.field('file').text(LONGEST),
      url: url(one),
    })),
    names: items('names').map(one => ({
      owner: one.field('owner').text(100, NAME),
      repo: one.field('repo').text(100, NAME),
      id: one.field('id').whole(),
    })),
    nodes: items('nodes').map(one => one.text(LONGEST)),
    apply: items('apply').map(one => ({ key: one.field('key').text(LONGEST), digest: one.field('digest').text(200) })),
    held: items('held').map(one => ({ key: one.field('key').text(LONGEST), reason: one.field('reason').text(20_000) })),
    waiting: items('waiting').map(one => ({
      key: one.field('key').text(LONGEST),
      digest: one.field('digest').text(200),
    })),
    prunes: {
      share: prunes.field('share').whole(100),
      atLeast: prunes.field('atLeast').whole(),
      approved: prunes
        .field('approved')
        .list(MAX_ITEMS)
        .map(one => one.text(200)),
    },
  }
}

/** Reads the tokens that the web process answered. Throws `cluster-invalid` naming what is wrong. */
export function parseContentTokens(text: string): ContentToken[] {
  const tokens = JsonReader.parse(text, 'tokens').field('tokens').list(MAX_ITEMS)
  return tokens.map(one => ({
    token: one.field('token').text(1_000, /^[\x21-\x7e]+$/),
    expiresAt: one.field('expiresAt').text(40, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    repositories: one
      .field('repositories')
      .list(MAX_ITEMS)
      .map(id => id.whole()),
  }))
}

function readRepository(one: JsonReader): WorkRepository {
  return {
    id: one.field('id').whole(),
    owner: one.field('owner').text(100, NAME),
    name: one.field('name').text(100, NAME),
    url: one.field('url').text(LONGEST),
    defaultBranch: one.field('defaultBranch').text(LONGEST),
    archived: one.field('archived').flag(),
    createdAt: one.field('createdAt').text(40),
    pushedAt: one.field('pushedAt').text(40),
    visibility: one.field('visibility').oneOf(['public', 'internal', 'private']),
  }
}

const REGISTRY_TEXTS = ['tag', 'semver', 'semverFilter', 'digest', 'layer']

function readRef(ref: JsonReader): SourceRef {
  const registry = ref.optional('registry')
  return {
    ...Object.assign({}, ...['branch', 'tag', 'commit', 'semver', 'name'].map(key => textIn(ref, key))),
    ...(registry
      ? {
          registry: {
            ...Object.assign({}, ...REGISTRY_TEXTS.map(key => textIn(registry, key))),
            ...Object.assign({}, ...['copied', 'anonymous'].map(key => flagIn(registry, key))),
          },
        }
      : {}),
  }
}

function textIn(from: JsonReader, key: string): { readonly [key: string]: string } {
  const value = from.optional(key)?.text(LONGEST)
  return value === undefined ? {} : { [key]: value }
}

const flagIn = (from: JsonReader, key: string) => (from.optional(key)?.flag() ? { [key]: true as const } : {})
