import { readFileSync } from 'node:fs'
import { BailiwickError } from '../../src/base/errors.ts'
import { toJson } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { HOSTILE } from './hostile-inputs.ts'

// Builds one hostile input in a process of its own and says what came of it and how much memory it took.
const { files } = HOSTILE[process.argv[2]!]!
const tree = treeOf(files())
const before = process.memoryUsage.rss()
let code = 'built'
try {
  JSON.stringify(build(tree, '', '').map(object => toJson(object.root)))
} catch (error) {
  if (!(error instanceof BailiwickError)) throw error
  code = error.code
}
console.log(JSON.stringify({ code, mebibytes: Math.round(peak() / 1024), before: Math.round(before / 2 ** 20) }))

/** KiB of memory at the highest. Linux hands `maxRSS` of a process on to what it starts (getrusage(2)); `VmHWM` is this program's own. */
function peak(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1])
}
