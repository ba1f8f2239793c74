import { HELM_RELEASE, KUSTOMIZATION } from '../../../flux/kinds.ts'
import type { Path } from '../../../kube/node.ts'
import { annotationsOf, POD_SPEC_PATHS } from '../../../kube/pod-spec-paths.ts'
import { isRuledValue } from '../../workloads/helm-values-privileged.ts'

/** Where whatever a value is decides nothing: steps from the root; `*` is any key or place in a list. */
const INERT: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  [
    '/ConfigMap',
    [
      ['data', '*'],
      ['binaryData', '*'],
    ],
  ],
  [
    '/Secret',
    [
      ['data', '*'],
      ['stringData', '*'],
    ],
  ],
  // what it becomes in the objects of the Kustomization is followed there
  [KUSTOMIZATION, [['spec', 'postBuild', 'substitute', '*']]],
  ...[...POD_SPEC_PATHS].map(([kind, pod]): [string, Path[]] => [kind, inContainers(pod)]),
])

/** Annotations that are notes for people, or change only so that pods are replaced. */
const NOTES =
  /^(?:checksum\/[\w.-]+|kubectl\.kubernetes\.io\/restartedAt|kubernetes\.io\/(?:change-cause|description)|description|rollme|a8r\.io\/[\w.-]+)$/

/**
 * Whether a field is known to be inert, so that a value which a tenant controls and nobody here knows may stand there. A
 * list of kinds and fields: what is not in it is not. Commands are not: they say what runs, arguments what it is told.
 */
export function isInert(kind: string, path: Path): boolean {
  if (isNote(kind, path)) return true
  if (kind === HELM_RELEASE) {
    return path.length > 2 && path[0] === 'spec' && path[1] === 'values' && !isRuledValue(path.slice(2))
  }
  return (INERT.get(kind) ?? []).some(pattern => fits(pattern, path))
}

function isNote(kind: string, path: Path): boolean {
  const pod = POD_SPEC_PATHS.get(kind)
  const places: readonly Path[] = [['metadata', 'annotations'], ...(pod && pod.length > 1 ? [annotationsOf(pod)] : [])]
  return NOTES.test(String(path.at(-1))) && places.some(place => fits([...place, '*'], path))
}

function inContainers(pod: Path): Path[] {
  return ['containers', 'initContainers'].flatMap(list => [
    [...pod, list, '*', 'env', '*', 'value'],
    [...pod, list, '*', 'args', '*'],
  ])
}

const fits = (pattern: Path, path: Path): boolean =>
  pattern.length === path.length && pattern.every((step, index) => step === '*' || step === path[index])
