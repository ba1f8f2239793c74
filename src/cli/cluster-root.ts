import { BailiwickError } from '../errors.ts'
import { CLUSTER_NAME } from '../fleet/config/names.ts'
import type { DeclaredCluster } from '../fleet/model/fleet-config.ts'

/** How the option is explained. */
export const CLUSTER_ROOT_HELP =
  '  --cluster-root NAME=PATH   folder that a cluster starts from, if it is not detected (repeatable)'

/** Reads `--cluster-root NAME=PATH`. Throws `usage`. */
export function clusterRoot(text: string): DeclaredCluster {
  const mark = text.indexOf('=')
  const [name, path] = [text.slice(0, Math.max(0, mark)), text.slice(mark + 1)]
  if (mark > 0 && CLUSTER_NAME.test(name) && !path.split('/').includes('..')) return { name, path }
  throw new BailiwickError('usage', `--cluster-root ${JSON.stringify(text)} is not NAME=PATH`, {
    fix: 'Write for example --cluster-root production=kubernetes/flux/cluster, or =./ for the root of the repository.',
  })
}
