import { main } from './main.ts'

// `bailiwick check | head` ends our output early; that is the reader's choice, not an error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await main(process.argv.slice(2), {
  stdout: text => process.stdout.write(text),
  stderr: text => process.stderr.write(text),
  stdin: process.stdin,
  cwd: process.cwd(),
  // https://no-color.org
  color: process.stdout.isTTY === true && !process.env.NO_COLOR,
})
