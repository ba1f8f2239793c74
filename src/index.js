import { readDotEnv } from './process/dot-env.js'
import { onNewNode } from './process/on-new-node.js'

onNewNode(() => {
  readDotEnv()
  return import('./index.ts')
})
