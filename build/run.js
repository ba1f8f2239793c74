// `node build/run.js FILE.ts ARGUMENTS...` runs a program of the checkout. An old Node cannot read its types, and says in one line which one it needs.
import module from 'node:module'
import { resolve } from 'node:path'
import { onNewNode } from '../src/process/on-new-node.js'

process.argv.splice(1, 2, resolve(process.argv[2]))
onNewNode(async () => module.runMain())
