import { benchNodes, type Shape } from './bench-fleet.ts'
import { floorSeconds } from './floor.ts'

/** The floor alone in a process that has done nothing before, as the worker's: the parent sends a Shape, and is answered the seconds. */
const [kubeconfig] = process.argv.slice(2)
process.on('message', async (shape: Shape) => process.send!(await floorSeconds(kubeconfig!, benchNodes(shape))))
process.once('disconnect', () => process.exit(0))
process.send!('ready')
