// `node --import` this: the files of the modules that a process loads, one a line, into the file that BAILIWICK_LOADED names.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) appendFileSync(process.env.BAILIWICK_LOADED, `${fileURLToPath(url)}\n`)
    return next(url, context)
  },
})
