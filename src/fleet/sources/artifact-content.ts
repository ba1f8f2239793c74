import { oncePerName } from '../../base/once-per.ts'
import { artifactPath } from '../../flux/artifact.ts'
import { isOfKind } from '../../flux/references.ts'
import { entriesBelow, readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import { OCI_REPOSITORY } from '../../kube/flux-kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { fieldTexts } from '../../kube/read-fields.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { Fleet, FleetNode, NotSeen, PushingFile } from '../model/fleet.ts'
import type { DeclaredArtifact } from '../model/fleet-config.ts'
import { type OciReference, ociReference, packageOf, refKey } from '../model/source-ref.ts'

/** Of what the content of artifacts is known. */
interface ArtifactFacts {
  /** The repository that an artifact may be made of. */
  readonly url: string
  readonly branch: string
  readonly tree: Tree
  /** What the fleet's own file says about artifacts. */
  readonly declared: readonly DeclaredArtifact[]
  /** Why artifacts are not what nothing but their name or signature says, by refutedKey. */
  readonly refuted: ReadonlyMap<string, string>
}

/** What the artifact of an OCIRepository holds: a folder of a repository at its branch, or it is not known. */
export type ArtifactContent =
  | {
      readonly type: 'content'
      /** With its tag. */
      readonly address: string
      readonly folder: string
      /** Where nothing proves it: what says so, and how it would be proven. */
      readonly assumed?: string
      /** No declaration names it: every folder that is applied of it must exist. */
      readonly presumed?: true
      /** The one workflow that may have pushed it. */
      readonly workflow?: string
    }
  /** A workflow of another repository, or of another branch, signed it: the artifact is made of that. */
  | { readonly type: 'elsewhere'; readonly url: string; readonly branch: string }
  | { readonly type: 'unknown'; readonly reason: string }

const NOT_IN_GIT = 'the content of an OCIRepository is not in git'

/**
 * What the artifact holds that an OCIRepository follows. A signature and the fleet's file together prove it. Either alone, or the
 * name of the package, is an assumption, which holds only for what the platform follows (`byPlatform`).
 */
export function artifactContent(source: KubeObject, facts: ArtifactFacts, byPlatform: boolean): ArtifactContent {
  const followed = followedBy(source)
  if ('reason' in followed) return { type: 'unknown', reason: followed.reason }
  const { address } = followed
  const name = `${address.repository}:${address.tag}`
  const signature = signedContent(source)
  const signed = signature === 'unclear' ? undefined : signature
  const declared = facts.declared.find(one => one.address === name)
  const isElsewhere = signed && !(signed.url === facts.url && signed.branch === facts.branch)
  if (!byPlatform && !(signed && declared && !isElsewhere)) return { type: 'unknown', reason: NOT_IN_GIT }
  if (isElsewhere) return { type: 'elsewhere', url: signed.url, branch: signed.branch }
  const workflow = signed ? { workflow: signed.workflow } : {}
  if (!declared) return presumed(address, name, facts, signature)
  const { file, line } = declared.origin
  const assumed = signed ? {} : { assumed: `because of ${file}:${line}. ${SIGN}` }
  return { type: 'content', address: name, folder: artifactPath(declared.path), ...assumed, ...workflow }
}

/** The folder of the fleet's own repository that an artifact of the platform holds; undefined where that is not known. */
export function folderOfArtifact(source: KubeObject, facts: ArtifactFacts): string | undefined {
  if (!isOfKind(source, OCI_REPOSITORY)) return undefined
  const found = artifactContent(source, facts, true)
  return found.type === 'content' ? found.folder : undefined
}

/** By what is refuted that an artifact holds a repository. */
const refutedKey = (address: string, url: string): string => `${address} ${url}`

/** An artifact without a declaration: of the repository's own package, or signed by its workflow. */
function presumed(
  address: Required<OciReference>,
  name: string,
  facts: ArtifactFacts,
  signature: Signed | 'unclear' | undefined,
): ArtifactContent {
  const { url, branch, tree } = facts
  const own = packageOf(url)
  const isOwn = own !== undefined && `${address.repository}/`.startsWith(`${own}/`)
  const isSigned = signature !== undefined && signature !== 'unclear'
  if (!isSigned && !isOwn) return { type: 'unknown', reason: NOT_IN_GIT }
  const declare = (folder: string) =>
    `declare it under artifacts in .github/bailiwick.yaml: {url: oci://${name}, path: ./${folder}}`
  const unknown = (why: string): ArtifactContent => ({
    type: 'unknown',
    reason: `${NOT_IN_GIT}: ${why}. If it contains an unchanged folder of ${url}, ${declare('')}`,
  })
  if (signature === 'unclear') return unknown('spec.verify does not name exactly one workflow of one branch')
  // another tag may be an older state, or another build
  if (address.tag !== 'latest' && address.tag !== branch)
    return unknown(`tag ${address.tag} is neither latest nor the branch ${branch}`)
  const refuted = facts.refuted.get(refutedKey(name, url))
  if (refuted !== undefined) return unknown(refuted)
  const folder = isOwn ? folderNamed(tree, address.repository.slice(own.length + 1)) : ''
  const because = isSigned ? `because ${signature.workflow} signs it` : `because of the name of the package. ${SIGN}`
  const assumed = `${because}. If it contains this folder unchanged, ${declare(folder)}`
  const workflow = isSigned ? { workflow: signature.workflow } : {}
  return { type: 'content', address: name, folder, assumed, presumed: true, ...workflow }
}

const SIGN =
  'Anyone who can push to the registry can change the content. Set spec.verify with matchOIDCIdentity of the workflow that pushes it'

/** A package below that of its repository is the one folder of that name, such as `components/web`; any other is all of it. */
function folderNamed(tree: Tree, name: string): string {
  if (name === '') return ''
  const parents = ['', ...tree.list('').flatMap(({ type, path }) => (type === 'directory' ? [path] : []))]
  const all = parents.map(parent => (parent === '' ? name : `${parent}/${name}`))
  const [folder = '', ...others] = all.filter(path => tree.entry(path)?.type === 'directory')
  return others.length === 0 ? folder : ''
}

/** The address and the tag that an OCIRepository follows; why nothing in git is known of it. */
function followedBy(source: KubeObject): { readonly address: Required<OciReference> } | { readonly reason: string } {
  const spec = (...path: string[]) => stringAt(source.root, ['spec', ...path])
  const address = ociReference(spec('url') ?? '')
  if (!spec('url')?.startsWith('oci://') || !address || address.tag !== undefined) return { reason: NOT_IN_GIT }
  for (const field of ['digest', 'semver', 'semverFilter']) {
    if (at(source.root, ['spec', 'ref', field]) !== undefined)
      return { reason: `${NOT_IN_GIT}: spec.ref.${field} does not follow a branch` }
  }
  if (at(source.root, ['spec', 'layerSelector']) !== undefined)
    return { reason: `${NOT_IN_GIT}: spec.layerSelector is not supported` }
  const tag = spec('ref', 'tag') ?? 'latest'
  const whole = ociReference(`${address.repository}:${tag}`)
  return whole?.tag === undefined
    ? { reason: NOT_IN_GIT }
    : { address: { repository: whole.repository, tag: whole.tag } }
}

/** Fields of a source that decide when it is fetched, and not what. */
const TIMING = new Set(['interval', 'timeout', 'suspend'])

/** What of an OCIRepository decides what its artifact holds, to see that it changed. */
export const trustOf = ({ root }: KubeObject): string =>
  JSON.stringify(fieldTexts(at(root, ['spec']), name => !TIMING.has(name)))

/** Sources whose content is evaluated as a folder of a repository although nothing proves that their artifacts hold it. */
export function assumedContent(nodes: readonly FleetNode[]): NotSeen[] {
  const found = new Map<string, NotSeen>()
  for (const { source } of nodes) {
    const { id, url, artifact } = source
    if (source.presumed) {
      const reason =
        'the fleet does not declare it. It is evaluated as this repository, which has every folder that is applied of it. Declare it in the fleet, or under sources in .github/bailiwick.yaml'
      found.set(JSON.stringify(id), { source: id, url, reason, what: 'content' })
    }
    if (artifact?.assumed === undefined || source.opaque !== undefined) continue
    const entry = {
      source: id,
      url: `oci://${artifact.address}`,
      reason: `evaluated as ./${artifact.folder} of ${source.url}, ${artifact.assumed}`,
      what: 'content' as const,
    }
    found.set(JSON.stringify(entry), entry)
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
}

/**
 * Artifacts that nothing but their name or signature says the content of, and that do not have a folder that the platform
 * applies of them: they are not what they were taken for. The root says nothing, every repository has one.
 */
export function refutedArtifacts({ nodes, repositories }: Pick<Fleet, 'nodes' | 'repositories'>): Map<string, string> {
  const tenants = new Map(nodes.map(({ key, tenant }) => [key, tenant]))
  const trees = new Map(repositories.map(({ url, ref, tree }) => [`${url} ${refKey(ref)}`, tree]))
  const refuted = new Map<string, string>()
  for (const { source, path, parent, namespace, name } of nodes) {
    const { artifact, url, ref } = source
    if (!artifact?.presumed) continue
    // what a tenant writes into a path says nothing about the artifact
    if (parent !== undefined && tenants.get(parent) !== undefined) continue
    const folder = artifactPath(path)
    if (folder !== '' && trees.get(`${url} ${refKey(ref)}`)?.entry(folder)?.type === 'directory') continue
    const key = refutedKey(artifact.address, url)
    const what =
      folder === ''
        ? `its root, so nothing shows which folder of ${url} it contains`
        : `./${folder}, which is not a folder of ${url}`
    if (!refuted.has(key)) refuted.set(key, `Kustomization ${namespace}/${name} applies ${what}`)
  }
  return refuted
}

const ISSUER = 'https://token.actions.githubusercontent.com'
const SUBJECT =
  /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)\/(\.github\/workflows\/[\w.-]+\.ya?ml)@refs\/heads\/([\w./-]+)$/

/** With `secretRef`, source-controller looks at no identity; `trustedRootSecretRef` names who may certify any. */
const FIELDS = new Set(['provider', 'matchOIDCIdentity'])

/** Whose workflow signed an artifact, and which. */
interface Signed {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly branch: string
  readonly workflow: string
}

/**
 * The repository and branch whose own workflow must have signed an OCI artifact (`spec.verify.matchOIDCIdentity` of the
 * OCIRepository): source-controller takes no other content. `unclear` where the identities leave a choice, or other keys or roots
 * of trust count instead; undefined where no identity is asked for.
 */
function signedContent(source: KubeObject): Signed | 'unclear' | undefined {
  const verify = at(source.root, ['spec', 'verify'])
  const identities = at(verify, ['matchOIDCIdentity'])
  if (identities === undefined) return undefined
  const isOther = verify?.type !== 'map' || [...verify.fields.keys()].some(key => !FIELDS.has(key))
  if (isOther || stringAt(verify, ['provider']) !== 'cosign') return 'unclear'
  if (identities.type !== 'list' || identities.items.length !== 1) return 'unclear'
  const [identity] = identities.items
  if (literal(stringAt(identity, ['issuer'])) !== ISSUER) return 'unclear'
  const [, name, workflow, branch] = SUBJECT.exec(literal(stringAt(identity, ['subject'])) ?? '') ?? []
  if (name === undefined || workflow === undefined || branch === undefined) return 'unclear'
  return { url: normaliseUrl(`https://github.com/${name}`), branch, workflow }
}

/** The one text that a regular expression matches; undefined where it may match others. A dot stands for itself here. */
function literal(pattern: string | undefined): string | undefined {
  const inner = /^\^([^^$]*)\$$/.exec(pattern ?? '')?.[1]?.replaceAll(/\\([./-])/g, '$1')
  return inner === undefined || /[\\^$*+?()[\]{}|]/.test(inner) ? undefined : inner
}

const WORKFLOWS = '.github/workflows'
const ACTIONS = '.github/actions'
const MAX_FILES = 200
const MAX_BYTES = 4 * 1024 * 1024
const WORD = /[\w@.-]+/g
/** Programs that run a file without naming it. */
const RUN_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['make', ['Makefile', 'makefile', 'GNUmakefile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['npm', ['package.json']],
])
/** Manifests are evaluated where they are applied, and texts push nothing. */
const NO_PROGRAM = /\.(?:ya?ml|json|md|txt)$/i

const known = oncePerName<Tree, readonly PushingFile[]>()

/**
 * The files that decide what the workflows of a repository push (`only`: this workflow): the workflows, local actions, and
 * the programs that these name, by their names in any folder. Nothing is interpreted: a change of one of them is agreed to.
 * Where there are too many, it is the whole repository.
 */
export function pushingFiles(tree: Tree, only = ''): readonly PushingFile[] {
  return known(tree, only, () => collect(tree, only))
}

function collect(tree: Tree, only: string): readonly PushingFile[] {
  const entries = [...entriesBelow(tree, '')]
  const byName = Map.groupBy(entries, ({ name }) => name)
  const isStart = ({ path }: TreeEntry) =>
    path.startsWith(`${ACTIONS}/`) || (only === '' ? path.startsWith(`${WORKFLOWS}/`) : path === only)
  const found = new Set(entries.filter(isStart))
  let size = 0
  // what a set gets while it is gone through comes last
  for (const entry of found) {
    const bytes = entry.type === 'submodule' ? undefined : readUnlessLarge(tree, entry.path)
    size += bytes?.length ?? 0
    if (found.size > MAX_FILES || size > MAX_BYTES) return [{ path: '.', id: tree.id }]
    const words = new Set(bytes ? Buffer.from(bytes).toString('latin1').match(WORD) : [])
    for (const word of words)
      for (const name of [word, ...(RUN_BY.get(word) ?? [])])
        for (const one of byName.get(name) ?? []) if (isProgram(one, word)) found.add(one)
  }
  return [...found].map(({ path, id }) => ({ path, id }))
}

/** A workflow that another one calls counts as well. */
const isProgram = ({ path, name }: TreeEntry, word: string) =>
  name !== word || !NO_PROGRAM.test(name) || path.startsWith(`${WORKFLOWS}/`)
