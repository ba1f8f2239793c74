import { onNewNode } from '../../process/on-new-node.js'

onNewNode(() => import('./index.ts'))
