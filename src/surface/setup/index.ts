import { runProcess } from '../../process/run-process.ts'
import { runSetup } from './run-setup.ts'

await runProcess(async () => {
  const site = await runSetup(process.argv.slice(2), {
    env: process.env,
    say: line => process.stdout.write(`${line}\n`),
  })
  try {
    await site.done
  } finally {
    await site.close()
  }
})
