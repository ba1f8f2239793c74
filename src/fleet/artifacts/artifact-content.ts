import { artifactPath } from '../../flux/artifact-path.ts'
import { isOfKind } from '../../flux/flux-object.ts'
import { OCI_REPOSITORY } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { fieldTexts } from '../../kube/field-texts.ts'
import { at, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { DeclaredArtifact } from '../model/fleet-config.ts'
import { type OciReference, ociReference, packageOf } from './oci-reference.ts'
import { type Signed, signedContent } from './signed-content.ts'

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
export const refutedKey = (address: string, url: string): string => `${address} ${url}`

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
