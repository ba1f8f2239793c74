#!/usr/bin/env node
// Plain JavaScript that any Node since 14 can read: it only finds a Node that runs the rest.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = 24

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // awaited by nobody: what it throws is a bug and ends the process with its trace
  import('./run.ts')
} else {
  const newer = nodeOfDependency()
  if (newer === undefined) {
    process.stderr.write(
      `error[config]: Node ${process.versions.node} is too old, Bailiwick needs Node ${NEEDED} or newer: ` +
        'install it, or run `npm ci` in the checkout, which brings one\n',
    )
    process.exitCode = 2
  } else {
    runWith(newer)
  }
}

/** The Node that the npm package `node` installs beside us, if it is there. */
function nodeOfDependency() {
  try {
    const require = createRequire(import.meta.url)
    const name = process.platform === 'win32' ? 'node.exe' : 'node'
    const program = join(dirname(require.resolve('node/package.json')), 'bin', name)
    return existsSync(program) ? program : undefined
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** @param {string} program */
function runWith(program) {
  const script = fileURLToPath(import.meta.url)
  const child = spawn(program, [script, ...process.argv.slice(2)], { stdio: 'inherit' })
  // the terminal sends these to the child as well; it decides, we only pass its end on
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('error', error => {
    process.stderr.write(`error[config]: ${program} does not start (${error.message}): run \`npm ci\` again\n`)
    process.exitCode = 2
  })
  child.on('close', code => {
    process.exitCode = code ?? 2
  })
}
