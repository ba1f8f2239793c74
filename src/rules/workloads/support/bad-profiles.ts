import { at, type Path } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { textOf } from './scalars.ts'

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const SECCOMP = ['seccomp.security.alpha.kubernetes.io/pod', 'container.seccomp.security.alpha.kubernetes.io/']

/** An annotation of a pod that takes a profile away from its containers. */
interface ProfileAnnotation {
  readonly path: Path
  readonly value: string
  readonly reason: string
}

/** Annotations that name another profile than the runtime's own or one of the node. */
export function* badProfiles(object: KubeObject, annotations: Path): Iterable<ProfileAnnotation> {
  const map = at(object.root, annotations)
  if (map?.type !== 'map') return
  for (const [key, { value: node }] of map.fields) {
    const reason = profileOf(key)
    const value = textOf(node) ?? ''
    if (reason === undefined || isFine(value)) continue
    yield { path: [...annotations, key], value, reason }
  }
}

function profileOf(key: string): string | undefined {
  if (key.startsWith(APPARMOR)) return 'forbidden AppArmor profile'
  return SECCOMP.some(name => key === name || (name.endsWith('/') && key.startsWith(name)))
    ? 'seccompProfile'
    : undefined
}

const isFine = (value: string) =>
  value === '' || value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
