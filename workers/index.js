import { readDotEnv } from '../src/process/dot-env.js'
import { onNewNode } from '../src/process/on-new-node.js'

onNewNode(() => {
  readDotEnv()
  return import('./index.ts')
})
