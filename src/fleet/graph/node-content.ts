import type { BailiwickError } from '../../errors.ts'
import type { RenderResult } from '../../flux/render-with-holes.ts'
import type { Hole } from '../../kube/hole.ts'
import { isGitBase } from '../../kustomize/paths/is-git-base.ts'
import { digestOfTexts } from '../model/digest.ts'
import type { FleetNode, Lockdown } from '../model/fleet.ts'
import { objectTexts } from './object-texts.ts'

/**
 * What a rendering makes of a node. With holes there is no digest, so that nothing of it is applied; the node of a tenant
 * is an error with any, one of the platform where Flux refuses a hole; with --no-remote-bases it refuses a base in git.
 */
export function nodeContent(
  { objects, holes: found, error }: RenderResult,
  tenant: string | undefined,
  { noRemoteBases }: Pick<Lockdown, 'noRemoteBases'>,
): Pick<FleetNode, 'objects' | 'digest' | 'holes' | 'error'> {
  const isRefused = ({ remote }: Hole) => noRemoteBases && remote !== undefined && isGitBase(remote)
  const holes = found.map(hole => (isRefused(hole) ? { ...hole, fatal: true } : hole))
  if (holes.length === 0) return { objects, digest: digestOfTexts(objectTexts(objects)), ...(error ? { error } : {}) }
  const refused = tenant === undefined ? fatalError(holes, error) : error
  return { objects, digest: '', holes, ...(refused ? { error: refused } : {}) }
}

/** Why Flux refuses a build with these holes: what the build stopped at, where that is one of them. */
function fatalError(holes: readonly Hole[], error: BailiwickError | undefined): BailiwickError | undefined {
  const fatal = holes.filter(hole => hole.fatal)
  const isSame = (hole: Hole) => hole.error.code === error?.code && hole.error.message === error.message
  return (fatal.find(isSame) ?? fatal[0])?.error
}
