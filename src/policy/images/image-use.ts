import type { Path } from '../../kube/node.ts'

/** An image that a container of an object runs. */
export interface ImageUse {
  /** Of the field that holds it. */
  readonly path: Path
  readonly list: 'initContainers' | 'containers' | 'ephemeralContainers'
  /** As it is written; undefined where only the cluster knows it. */
  readonly written: string | undefined
}
