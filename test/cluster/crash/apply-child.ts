import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openApplier } from './open-applier.ts'

// A worker as a process of its own. Reads one line, {kubeconfig, cluster, nodes}, and brings that cluster to these nodes.
const lines = createInterface({ input: process.stdin })
const [line] = (await once(lines, 'line')) as [string]
const { kubeconfig, cluster, nodes } = JSON.parse(line)
const applier = await openApplier(kubeconfig, cluster)
const said = await applier.run(nodes)
await applier.close()
process.stdout.write(`${JSON.stringify(said)}\n`)
lines.close()
