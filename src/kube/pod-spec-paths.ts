import type { Path } from './node.ts'

const TEMPLATE: Path = ['spec', 'template', 'spec']

/** Where the kinds of Kubernetes keep the spec of their pods, by `<group>/<Kind>`. `extensions` served some until 1.16. */
export const POD_SPEC_PATHS: ReadonlyMap<string, Path> = new Map<string, Path>([
  ['/Pod', ['spec']],
  ['/PodTemplate', ['template', 'spec']],
  ['/ReplicationController', TEMPLATE],
  ['apps/Deployment', TEMPLATE],
  ['apps/StatefulSet', TEMPLATE],
  ['apps/DaemonSet', TEMPLATE],
  ['apps/ReplicaSet', TEMPLATE],
  ['extensions/Deployment', TEMPLATE],
  ['extensions/DaemonSet', TEMPLATE],
  ['extensions/ReplicaSet', TEMPLATE],
  ['batch/Job', TEMPLATE],
  ['batch/CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
  ['batch/JobTemplate', ['template', 'spec', 'template', 'spec']],
])

/** The annotations of the pods whose spec lies at `path`. */
export const annotationsOf = (path: Path): Path => [...path.slice(0, -1), 'metadata', 'annotations']
