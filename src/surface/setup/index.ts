import { runProcess } from '../../process/run-process.ts'
import { helpText } from '../cli/usage.ts'
import { runSetup, SETUP } from './run-setup.ts'

const [args, say] = [process.argv.slice(2), (line: string) => process.stdout.write(`${line}\n`)]

if (args.includes('--help') || args.includes('-h'))
  say(`usage: npm run ${helpText(SETUP).replace('setup', 'setup --')}`)
else
  await runProcess(async () => {
    const site = await runSetup(args, { env: process.env, say })
    try {
      await site.done
    } finally {
      await site.close()
    }
  })
