import { artifactPath } from '../../flux/artifact-path.ts'
import { isOfKind } from '../../flux/flux-object.ts'
import { OCI_REPOSITORY } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { at, canonical, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { DeclaredArtifact } from '../model/fleet-config.ts'
import { isOwnPackage, type OciReference, ociReference } from './oci-reference.ts'
import { publishedAt, WORKFLOWS } from './published-artifacts.ts'
import { signedContent } from './signed-content.ts'

/** Of what the content of artifacts is known. */
interface ArtifactFacts {
  /** The fleet's own repository. */
  readonly url: string
  readonly branch: string
  /** What its workflows are read from: the tree that a change is compared with. */
  readonly tree: Tree
  /** What the fleet's own file says about artifacts. */
  readonly declared: readonly DeclaredArtifact[]
}

/** What the artifact of an OCIRepository holds: a folder of the fleet's own repository at its branch, or it is not known. */
export type ArtifactContent =
  | {
      readonly type: 'content'
      /** With its tag. */
      readonly address: string
      readonly folder: string
      readonly ignore?: readonly string[]
      /** What says so, where no signature proves it. */
      readonly assumed?: string
    }
  /** A workflow of another repository, or of another branch, signed it: what that pushes is read there. */
  | { readonly type: 'elsewhere'; readonly url: string; readonly branch: string }
  | { readonly type: 'unknown'; readonly reason: string }

const NOT_IN_GIT = 'the content of an OCIRepository is not in git'

/**
 * What the artifact holds that an OCIRepository follows. A signature of the fleet's own workflow proves where it comes from;
 * without one the fleet's file and its workflows say so of what the platform follows (`byPlatform`), which is only assumed.
 */
export function artifactContent(source: KubeObject, facts: ArtifactFacts, byPlatform: boolean): ArtifactContent {
  const followed = followedBy(source)
  if ('reason' in followed) return { type: 'unknown', reason: followed.reason }
  const { address } = followed
  const name = `${address.repository}:${address.tag}`
  const signed = signedContent(source)
  if (signed) {
    const { url, branch } = signed
    const isOwn = url === facts.url && branch === facts.branch
    if (!isOwn) return byPlatform ? { type: 'elsewhere', url, branch } : { type: 'unknown', reason: NOT_IN_GIT }
    return ofWorkflow(address, facts, name, signed.workflow)
  }
  if (!byPlatform) return { type: 'unknown', reason: NOT_IN_GIT }
  const declared = facts.declared.find(one => one.address === name)
  if (declared) {
    const folder = artifactPath(declared.path)
    return { type: 'content', address: name, folder, assumed: `${declared.origin.file}:${declared.origin.line}` }
  }
  if (!isOwnPackage(address.repository, facts.url)) return { type: 'unknown', reason: NOT_IN_GIT }
  return ofWorkflow(address, facts, name)
}

/** The folder of the fleet's own repository that an artifact of the platform holds; undefined where that is not known. */
export function folderOfArtifact(source: KubeObject, facts: ArtifactFacts): string | undefined {
  if (!isOfKind(source, OCI_REPOSITORY)) return undefined
  const found = artifactContent(source, facts, true)
  return found.type === 'content' ? found.folder : undefined
}

function ofWorkflow(
  address: Required<OciReference>,
  facts: ArtifactFacts,
  name: string,
  workflow?: string,
): ArtifactContent {
  const published = publishedAt(facts.tree, facts, address, workflow)
  if (!published) {
    // of a workflow that is not there nothing is known but that it made the artifact of this repository
    if (workflow !== undefined && !facts.tree.entry(workflow)) {
      return {
        type: 'content',
        address: name,
        folder: '',
        assumed: `the signature of ${workflow}, which is not in the repository`,
      }
    }
    const where = workflow ?? `${WORKFLOWS} of ${facts.url}`
    return {
      type: 'unknown',
      reason: `${NOT_IN_GIT}: no supported step in ${where} pushes ${name}${declare(name)}`,
    }
  }
  const { file, line } = published.origin
  if ('why' in published) {
    return {
      type: 'unknown',
      reason: `${NOT_IN_GIT}: ${file}:${line} pushes ${name}, but ${published.why}${declare(name)}`,
    }
  }
  const { folder, ignore } = published
  const assumed = workflow === undefined ? { assumed: `${file}:${line}` } : {}
  return { type: 'content', address: name, folder, ...(ignore ? { ignore } : {}), ...assumed }
}

const declare = (name: string) =>
  `. If it contains an unchanged folder of this repository, declare it under artifacts in .github/bailiwick.yaml: {url: oci://${name}, path: ./}`

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

/** What of an OCIRepository decides what its artifact holds, to see that it changed. */
export const trustOf = (source: KubeObject): string =>
  ['url', 'ref', 'verify', 'layerSelector', 'ignore', 'provider', 'insecure']
    .map(field => {
      const node = at(source.root, ['spec', field])
      return node === undefined ? '' : canonical(node)
    })
    .join('\n')
