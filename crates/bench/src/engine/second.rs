//! A second thread with one thing to do at a time.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::Context;

/// A thread that answers; at most one question is open.
pub(crate) struct Second<Q, A> {
    ask: Option<SyncSender<Q>>,
    answers: Receiver<A>,
    is_asked: bool,
    thread: Option<JoinHandle<()>>,
}

impl<Q: Send + 'static, A: Send + 'static> Second<Q, A> {
    /// Starts it; the name is what a profile shows.
    pub(crate) fn start(name: &str, mut work: impl FnMut(Q) -> A + Send + 'static) -> anyhow::Result<Self> {
        let (ask, questions) = sync_channel::<Q>(1);
        let (answer, answers) = sync_channel(1);
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            while let Ok(question) = questions.recv() {
                if answer.send(work(question)).is_err() {
                    return;
                }
            }
        });
        let thread = thread.context("starting a second thread")?;
        Ok(Second { ask: Some(ask), answers, is_asked: false, thread: Some(thread) })
    }

    /// Asks; the answer to what was asked before must have been awaited.
    pub(crate) fn ask(&mut self, question: Q) -> anyhow::Result<()> {
        let sent = self.ask.as_ref().and_then(|ask| ask.send(question).ok());
        sent.context("the second thread has ended")?;
        self.is_asked = true;
        Ok(())
    }

    /// Waits for the answer, if there is a question.
    pub(crate) fn wait(&mut self) -> anyhow::Result<Option<A>> {
        if !std::mem::take(&mut self.is_asked) {
            return Ok(None);
        }
        self.answers.recv().map(Some).context("the second thread has ended")
    }
}

impl<Q, A> Drop for Second<Q, A> {
    fn drop(&mut self) {
        drop(self.ask.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            eprintln!("bench: the second thread has panicked");
        }
    }
}
