import { BailiwickError } from '../../src/errors.ts'
import { toJson } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/build.ts'
import { treeOf } from '../git/tree-of.ts'
import { HOSTILE } from './hostile-inputs.ts'

// Builds one hostile input in a process of its own and says what came of it, how long it took and how much memory.
const { files } = HOSTILE[process.argv[2]!]!
const tree = treeOf(files())
const before = process.memoryUsage.rss()
const start = performance.now()
const cpuBefore = process.cpuUsage()
let code = 'built'
try {
  JSON.stringify(build(tree, '', '').map(object => toJson(object.root)))
} catch (error) {
  if (!(error instanceof BailiwickError)) throw error
  code = error.code
}
// on a busy machine the clock says little, on an idle one collecting garbage takes other cores
const cpu = process.cpuUsage(cpuBefore)
const milliseconds = Math.round(Math.min(performance.now() - start, (cpu.user + cpu.system) / 1000))
const { maxRSS } = process.resourceUsage()
console.log(
  JSON.stringify({ code, milliseconds, mebibytes: Math.round(maxRSS / 1024), before: Math.round(before / 2 ** 20) }),
)
