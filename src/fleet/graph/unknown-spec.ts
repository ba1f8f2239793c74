import { BailiwickError } from '../../errors.ts'
import { at, type Node, type Path, type ScalarNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { isDecrypted } from '../../kube/sops-marks.ts'

/**
 * Throws `unrendered-variable` where the spec of a Kustomization holds an unknown value that lies in a tenant's namespace and
 * is not declared, or that a tenant encrypted in it: paths, patches, components and the like are interpreted, so nothing is
 * rendered from them. Values of `postBuild.substitute` only go on, and are followed.
 */
export function refuseUnknownSpec(
  kustomization: KubeObject,
  isTenants: boolean,
  owners: ReadonlyMap<string, string>,
): void {
  const isEncrypted = isTenants && isDecrypted(kustomization)
  const found = firstUnknown(at(kustomization.root, ['spec']), ['spec'], ({ opaque = [], value }) => {
    if (isEncrypted && typeof value === 'string' && value.startsWith('ENC[')) return true
    return opaque.some(({ namespace, declared }) => declared !== 'key' && owners.has(namespace))
  })
  if (!found) return
  const message = `${found.path.join('.')}: contains an unknown value, which only the cluster has and a tenant controls. Allowed: values in git, and keys that .github/bailiwick.yaml declares`
  throw new BailiwickError('unrendered-variable', message, {
    origin: found.node.origin,
    fix: 'Write the value into git, or declare its key in .github/bailiwick.yaml.',
  })
}

interface Placed {
  readonly path: Path
  readonly node: ScalarNode
}

function firstUnknown(
  node: Node | undefined,
  path: Path,
  isUnknown: (node: ScalarNode) => boolean,
): Placed | undefined {
  if (!node || (path[1] === 'postBuild' && path[2] === 'substitute')) return undefined
  if (node.type === 'scalar') return isUnknown(node) ? { path, node } : undefined
  const below: (readonly [string | number, Node])[] =
    node.type === 'list' ? [...node.items.entries()] : [...node.fields].map(([key, { value }]) => [key, value])
  for (const [step, child] of below) {
    const found = firstUnknown(child, [...path, step], isUnknown)
    if (found) return found
  }
  return undefined
}
