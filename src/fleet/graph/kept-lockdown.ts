import type { Cluster, Lockdown } from '../model/fleet.ts'
import type { Root } from './cluster-root.ts'

/**
 * The flags of Flux on a cluster: where its root does not build as a whole, a flag that its last complete build had on
 * stays on. What the root itself shows is the very object of `root` where that is all.
 */
export function keptLockdown(root: Root, before: Cluster | undefined): Lockdown {
  const isWhole = !root.error && root.resolved.type === 'content'
  if (isWhole || !before || root.resolved.type === 'wanted') return root.lockdown
  const [now, was] = [root.lockdown, before.lockdown]
  const account = now.defaultServiceAccount ?? was.defaultServiceAccount
  const helmAccount = now.helmDefaultServiceAccount ?? was.helmDefaultServiceAccount
  // what shows no controller shows nothing of how strict it is
  const isLenient = was.strictSubstitution === false && (!now.flux || now.strictSubstitution === false)
  const flux = now.flux ?? was.flux
  return {
    noCrossNamespaceRefs: now.noCrossNamespaceRefs || was.noCrossNamespaceRefs,
    noRemoteBases: now.noRemoteBases || was.noRemoteBases,
    ...(account === undefined ? {} : { defaultServiceAccount: account }),
    ...(helmAccount === undefined ? {} : { helmDefaultServiceAccount: helmAccount }),
    ...(isLenient ? { strictSubstitution: false } : {}),
    ...(flux ? { flux } : {}),
  }
}
