import { isLabelKey, isLabelValue } from '../names.ts'
import { at } from '../node.ts'
import { idOf, type KubeObject } from '../object.ts'
import { textMapOf } from '../read-text.ts'

/**
 * The labels of a role or binding whose name, labels and annotations the API server takes; undefined where it refuses them
 * (ValidateObjectMeta and IsPathSegmentName of k8s.io/apimachinery).
 */
export function soundLabels(object: KubeObject): ReadonlyMap<string, string> | undefined {
  if (!isRbacName(idOf(object).name)) return undefined
  const labels = textMapOf(at(object.root, ['metadata', 'labels']))
  const annotations = textMapOf(at(object.root, ['metadata', 'annotations']))
  if (!labels || !annotations) return undefined
  const sound = [...labels].every(([key, value]) => isLabelKey(key) && isLabelValue(value))
  // annotations may be written in upper case
  return sound && [...annotations.keys()].every(key => isLabelKey(key.toLowerCase())) ? labels : undefined
}

/** Whether a role or binding may be called so. */
export function isRbacName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('%')
}
